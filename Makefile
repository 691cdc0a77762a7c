# Needs Go and make, nothing else. A C compiler is used by `race` where there is one.

GO       ?= go
# A number of runs: a time races with the fuzzer's own end, which then fails without an input (go.dev/issue/75804).
FUZZTIME ?= 20000x
ROUTEGEN := $(GO) run ./cmd/routegen
# Pinned: a linter that moves by itself breaks builds nobody touched.
GOLANGCI := $(GO) run github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0
GOVULNCHECK := $(GO) run golang.org/x/vuln/cmd/govulncheck@v1.9.0
# Every Go file of a package, test inputs left out.
GOFILES  := {{$$d := .Dir}}{{range .GoFiles}}{{$$d}}/{{.}} {{end}}{{range .IgnoredGoFiles}}{{$$d}}/{{.}} {{end}}{{range .TestGoFiles}}{{$$d}}/{{.}} {{end}}{{range .XTestGoFiles}}{{$$d}}/{{.}} {{end}}

.DEFAULT_GOAL := help
.PHONY: help run demo demo-login generate check test slow race fuzz bench bench-peers lint words

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-11s %s\n", $$1, $$2 }' Makefile

run: ## generate from routes.yaml, print the routes and their schema sizes, and run the whole system with scripted answers
	$(ROUTEGEN) generate
	$(GO) build ./generated/...
	$(ROUTEGEN) inspect routes
	$(GO) run ./examples/multiagent < examples/multiagent/answers.txt

demo: ## serve the examples on SQLite and open the inspector in a browser
	$(GO) run ./examples/demo

demo-login: ## the demo with a local issuer: sign in as one of two people
	$(GO) run ./examples/demo -login

generate: ## write the output of routes.yaml
	$(ROUTEGEN) generate

check: ## compare the committed output with routes.yaml; writes nothing
	$(ROUTEGEN) check
	$(ROUTEGEN) -C examples/planexecute check
	$(ROUTEGEN) -C examples/inspection check
	$(ROUTEGEN) -C examples/banking check

test: ## run every test but the slow ones
	$(GO) test -timeout 30m ./...

slow: ## run the slow tests too (build tag slow)
	$(GO) test -count=1 -timeout 60m -tags slow ./...

race: ## run the tests under the race detector, where a C compiler is
	@if [ "$$($(GO) env CGO_ENABLED)" = 1 ] && command -v "$$($(GO) env CC | cut -d' ' -f1)" >/dev/null 2>&1; then \
		echo "$(GO) test -race -timeout 60m ./..."; $(GO) test -race -timeout 60m ./...; \
	else \
		echo "SKIPPED: the race detector needs cgo and a C compiler, and this machine has none. No race was looked for." >&2; \
	fi

fuzz: ## fuzz each target for FUZZTIME (20000x: so many runs)
	@list=$$($(GO) test -list '^Fuzz' ./...) || { echo "$$list" >&2; exit 1; }; \
	targets=$$(echo "$$list" | awk '/^Fuzz/ { name[++n] = $$1 } /^ok/ { for (i = 1; i <= n; i++) print $$2 "=" name[i]; n = 0 }'); \
	[ -n "$$targets" ] || { echo "no fuzz target found" >&2; exit 1; }; \
	for target in $$targets; do \
		echo "fuzz $${target#*=} in $${target%=*} for $(FUZZTIME)"; \
		$(GO) test -run '^$$' -fuzz "^$${target#*=}\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 1x "$${target%=*}" || exit 1; \
	done

bench: ## run every benchmark
	$(GO) test -run '^$$' -bench . -benchmem -timeout 60m ./...

bench-peers: ## compare with go-jsonschema, oapi-codegen and protoc-gen-go; writes docs/benchmarks.md
	cd generator/peers && $(GO) run . -rounds 3

lint: ## go vet, gofmt, golangci-lint, govulncheck
	$(GO) vet ./...
	$(GO) vet -tags slow ./...
	@fmt=$$($(GO) env GOROOT)/bin/gofmt; [ -x "$$fmt" ] || fmt=gofmt; \
	bad=$$("$$fmt" -l $$($(GO) list -f '$(GOFILES)' ./...)) || exit 1; \
	[ -z "$$bad" ] || { echo "gofmt wants to change:" >&2; echo "$$bad" >&2; echo "run: gofmt -w on them" >&2; exit 1; }
	@if $(GOLANGCI) version >/dev/null 2>&1; then \
		echo "golangci-lint run"; $(GOLANGCI) run ./...; \
	else \
		echo "SKIPPED: golangci-lint cannot be fetched or built here. Only go vet and gofmt were run. The reason is shown by:" >&2; \
		echo "  $(GOLANGCI) version" >&2; \
	fi
	@if ! curl -sfm 5 -o /dev/null https://vuln.go.dev/index/db.json; then \
		echo "SKIPPED: the database of known vulnerabilities cannot be reached in 5 seconds. None was looked for. The reason is shown by:" >&2; \
		echo "  curl -m 5 https://vuln.go.dev/index/db.json" >&2; \
	elif ! $(GOVULNCHECK) -version >/dev/null 2>&1; then \
		echo "SKIPPED: govulncheck cannot be fetched or built here. No known vulnerability was looked for. The reason is shown by:" >&2; \
		echo "  $(GOVULNCHECK) -version" >&2; \
	else \
		echo "govulncheck"; $(GOVULNCHECK) ./...; \
	fi

words: ## list the names of functions and types that stand in more than three packages
	@ROUTEGEN_WORDS=1 $(GO) test -count=1 -run TestNamesSayWhatTheyAreOf -v . | grep -E '^ +(architecture_words_test|[0-9]+ )' || true
