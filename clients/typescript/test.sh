#!/usr/bin/env bash
# Tests the TypeScript kit with the tools of its language. Where they are missing it says so and skips, unless
# KITS=required.
set -euo pipefail
cd "$(dirname "$0")"

if ! command -v node >/dev/null || ! command -v npm >/dev/null || (($(node -p 'process.versions.node.split(".")[0]') < 20)); then
  echo "clients/typescript: Node 20 or later with npm is missing: https://nodejs.org" >&2
  [[ "${KITS:-}" != required ]] || exit 1
  echo "clients/typescript: skipped"
  exit 0
fi
quiet=(--no-audit --no-fund --loglevel=error)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

tests() { # FILE...
  node --import tsx --test --test-timeout=60000 "$@" &>"$scratch/log" || { cat "$scratch/log" >&2; exit 1; }
  sed -n 's/^[^ ]* pass /tests passed: /p' "$scratch/log"
}

# What is installed is kept until the lock file changes: the examples use it too, and may be running.
if ! cmp -s package-lock.json node_modules/.installed; then
  npm ci "${quiet[@]}"
  cp package-lock.json node_modules/.installed
fi
npm run --silent check
if [[ "${KITS:-}" == required ]]; then # it takes buf, which is long in coming the first time
  OUT="$scratch" npm run --silent generate
  diff -r src/wire "$scratch/clients/typescript/src/wire" || { echo "clients/typescript: src/wire is not what the contract says; npm run generate, npm run build" >&2; exit 1; }
fi
npx tsc -p tsconfig.build.json --outDir "$scratch/dist"
diff -r dist "$scratch/dist" || { echo "clients/typescript: dist is not what src says; npm run build" >&2; exit 1; }
tests test/*.test.ts

# The same at both ends of the ranges of package.json.
for end in lowest highest; do
  folder="$scratch/$end"
  mkdir "$folder"
  cp -r package.json README.md dist examples test "$folder"
  cd "$folder"
  npm pkg delete devDependencies.typescript devDependencies.ts-proto devDependencies.@types/node
  [[ $end == highest ]] || sed -i.bak -E '/"@(grpc|bufbuild)\//s/\^//' package.json
  npm install "${quiet[@]}"
  npm ls --omit=dev --depth=0
  tests test/{play,streams,start,thread}.test.ts
  cd - >/dev/null
done
