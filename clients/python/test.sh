#!/usr/bin/env bash
# Tests the Python kit with the tools of its language: types and style, the package built, and all tests on the built package
# at both ends of the ranges of pyproject.toml. Where Python is missing it says so and skips, unless KITS=required.
set -euo pipefail
cd "$(dirname "$0")"

if ! python3 -c 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 10))' 2>/dev/null; then
    echo "clients/python: Python 3.10 or later with venv is missing: https://www.python.org (Debian: python3-venv)" >&2
    [[ ${KITS:-} != required ]] || exit 1
    echo "clients/python: skipped"
    exit 0
fi
tools=(build==1.6.1 flit_core==4.2.0 mypy==2.4.1 ruff==0.17.6 types-grpcio==1.85.0.20261028 types-protobuf==7.35.1.20260906)
range() { sed -nE "s/^dependencies = .*\"($1 [^\"]*)\".*/\1/p" pyproject.toml; }
newest=("$(range grpcio)" "$(range protobuf)")
oldest=("${newest[@]%,*}")
oldest=("${oldest[@]/>=/==}")

# Environments are kept until what is in them, the Python or the month changes.
kept=${XDG_CACHE_HOME:-$HOME/.cache}/flip7-arena/python/$(
    { cat test.sh pyproject.toml; python3 -VV; date +%Y-%m; } | cksum | cut -d ' ' -f 1
)
mkdir -p "$kept"
scratch=$(mktemp -d "$kept/scratch.XXXXXX")
trap 'rm -rf "$scratch"' EXIT

environment() { # NAME REQUIREMENT...
    [[ ! -e $kept/$1 ]] || return 0
    python3 -m venv "$scratch/$1"
    "$scratch/$1/bin/python" -m pip --quiet --disable-pip-version-check install --only-binary :all: "${@:2}"
    mv "$scratch/$1" "$kept" 2>/dev/null || [[ -e $kept/$1 ]] # somebody was faster
}
environment tools "${tools[@]}" "${newest[@]}"
environment oldest "${oldest[@]}"
environment newest "${newest[@]}"

tool() { "$kept/tools/bin/python" -m "$@"; }
tool ruff check --quiet --no-cache .
tool ruff format --quiet --no-cache --check .
tool mypy --cache-dir "$scratch/mypy" flip7 examples speed
tool build --no-isolation --outdir "$scratch" . &>"$scratch/log" || { cat "$scratch/log" >&2; exit 1; }

# Away from the sources, so that it is the package that is tested; the vectors where the tests look for them.
tool pip --quiet --disable-pip-version-check install --no-deps --target "$scratch/package" "$scratch"/*.whl
mkdir -p "$scratch/clients/python" "$scratch/clients/go/testdata"
cp -r README.md examples tests "$scratch/clients/python"
cp ../go/testdata/helpers.json "$scratch/clients/go/testdata"
cd "$scratch/clients/python"
export PYTHONPATH=$scratch/package
for end in oldest newest; do
    "$kept/$end/bin/python" -m pip check
    "$kept/$end/bin/python" -c 'from importlib.metadata import version as v; print(*[f"{n} {v(n)}" for n in ("grpcio", "protobuf")])'
    "$kept/$end/bin/python" -W error::UserWarning -m unittest
done
