# Flip 7 Arena. `make demo` shows it, `make test` tests it; `make help` lists the rest.

SHELL := /bin/bash
BUF := go run github.com/bufbuild/buf/cmd/buf@v1.75.0
STATICCHECK := go run honnef.co/go/tools/cmd/staticcheck@v0.8.2

.PHONY: help demo build test race check generate baseline bench soak

help: ## list the targets
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

demo: build ## a server, eight bots over gRPC, a tournament and the Elo table, in under 30 seconds
	bin/flip7 demo

build: go ## build bin/flip7
	go build -o bin/flip7 ./cmd/flip7

test: go ## all tests; KITS=required installs what they need and skips nothing
	go test ./...

race: go ## the short tests under the race detector
	go test -race -short ./...

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

generate: go ## generate the Go code of the protos
	$(BUF) generate --template proto/buf.gen.yaml

baseline: go ## make the contract as it is now what later changes must not break
	$(BUF) build --exclude-source-info -o proto/baseline.binpb

soak: go ## the long proofs: many seeds, long nights
	FLIP7_SOAK=$${FLIP7_SOAK:-10m} go test -tags soak -timeout 60m ./...

bench: go ## speed, as ratios against a floor measured in the same run
	go test -run '^$$' -bench . -benchtime 2s ./arena/deal ./arena/match ./arena/swiss ./server

.PHONY: go
go:
	@command -v go >/dev/null || { echo "Go is missing: https://go.dev/doc/install (1.26 or newer)"; exit 1; }
