# Flip 7 Arena. `make demo` shows it, `make test` tests it; `make help` lists the rest.

SHELL := /bin/bash
BUF := go run github.com/bufbuild/buf/cmd/buf@v1.75.0
STATICCHECK := go run honnef.co/go/tools/cmd/staticcheck@v0.8.2
GOVULNCHECK := go run golang.org/x/vuln/cmd/govulncheck@v1.9.0

.PHONY: help demo build test race kits check cross generate baseline bench soak vuln

help: ## list the targets
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

demo: build ## a server, eight bots over gRPC, a tournament and the Elo table, in under 30 seconds
	bin/flip7 demo

build: go ## build bin/flip7
	go build -o bin/flip7 ./cmd/flip7

test: go browser ## all tests; KITS=required installs what they need and skips nothing
	go test ./...
	.ci/kits

race: go ## the short tests under the race detector
	go test -race -short ./...

kits: go ## the kits and the bridge, with the tools of their languages
	.ci/kits

check: go ## lint, generated code unchanged, the contract unbroken, arrows
	@unformatted=$$(git ls-files '*.go' | grep -v '\.pb\.go$$' | xargs gofmt -l); if [ -n "$$unformatted" ]; then echo "not gofmt'ed: $$unformatted"; exit 1; fi
	go vet ./...
	go mod verify
	go mod tidy -diff
	$(BUF) lint
	$(BUF) format -d --exit-code --path proto/flip7
	@if [ -f proto/baseline.binpb ]; then $(BUF) breaking --against proto/baseline.binpb; fi
	$(MAKE) generate
	git diff --exit-code -- proto
	$(STATICCHECK) ./...
	go test -count 1 . # the arrows
	$(MAKE) cross

cross: go ## build flip7 for the systems that it runs on
	@for os in linux darwin windows; do for arch in amd64 arm64; do \
		echo "$$os/$$arch"; CGO_ENABLED=0 GOOS=$$os GOARCH=$$arch go build -o .build/flip7-$$os-$$arch ./cmd/flip7 || exit 1; done; done
	GOOS=windows go vet ./...

generate: go ## generate the Go code of the protos; those of other kits: generate.sh and npm run generate in their folders
	$(BUF) generate --template proto/buf.gen.yaml

baseline: go ## make the contract as it is now what later changes must not break
	$(BUF) build --exclude-source-info -o proto/baseline.binpb

soak: go ## the long proofs: many seeds, long nights
	FLIP7_SOAK=$${FLIP7_SOAK:-10m} go test -tags soak -timeout 60m ./...

vuln: go ## known vulnerabilities in what is used; skipped where the database cannot be reached
	@report=$$($(GOVULNCHECK) ./... 2>&1) && echo "$$report" || { \
		if grep -q '^govulncheck: fetching vulnerabilities:' <<<"$$report"; then \
			echo "make vuln: skipped, the vulnerability database (https://vuln.go.dev) cannot be reached from here"; \
		else echo "$$report"; exit 1; fi; }

bench: go ## speed, as ratios against a floor measured in the same run
	go test -run '^$$' -bench . -benchtime 2s ./arena/deal ./arena/match ./arena/rating ./arena/swiss ./server ./server/web ./clients

.PHONY: browser
browser: # for the tests of the pages
	@[ "$(KITS)" != required ] || command -v chromium >/dev/null || { apt-get -qq update && DEBIAN_FRONTEND=noninteractive apt-get -qq install --yes --no-install-recommends chromium; }

.PHONY: go
go:
	@command -v go >/dev/null || { echo "Go is missing: https://go.dev/doc/install (1.26 or newer)"; exit 1; }
