# relabel's targets. `make` alone lists them; the text after ## is the description.
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

# Options of `relabel demo` or `relabel serve`: make demo ARGS=--exit
ARGS ?=
# What the Dockerfile starts from and is called; see docs/install.md.
BASE ?= relabel/runtime:bookworm
IMAGE ?= relabel/relabel:latest
# A package or test to look at alone: make test PKG=./mixer/... RUN=TestX
PKG ?= ./...
RUN ?=
BENCH ?= .
# How many things are struck in `make chaos`, in how long, with which random numbers.
KILLS ?= 200
MINUTES ?= 10
SEED ?= $(shell date +%s)

# What `make learn` compares, with which seeds, in how many rounds.
ARMS ?= sft,low
SEEDS ?= 0
ROUNDS ?= 4

# Builds, checks and tests have the same flags, so that they share Go's cache, also with those of other
# checkouts. Only the race detector needs cgo.
export GOFLAGS := $(filter-out -trimpath -buildvcs=%,$(GOFLAGS)) -trimpath -buildvcs=false
export CGO_ENABLED ?= 0
version := $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
go_build := go build -ldflags '-s -w -X main.version=$(version)'

.PHONY: help
help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: demo
demo: ## Collect DAgger data on real packages with scripted models and show it; ARGS=--exit to end then
	@$(MAKE) --no-print-directory -j demo-needs
	@tokenizer=$$(scripts/tokenizers.sh qwen3)/qwen3 || tokenizer=; tasks=$$(scripts/demo-tasks.sh); \
		bin/relabel demo --tasks "$$tasks/tasks.jsonl" --repositories "$$tasks/repositories" $${tokenizer:+--tokenizer "$$tokenizer"} $(ARGS)

.PHONY: learn
learn: install ## Close the loop: collect, train and serve a small student in rounds, SFT against DAgger, on a CPU; ARMS=, SEEDS=, ROUNDS=, ARGS=
	@$(MAKE) --no-print-directory -j2 build base-image
	@mkdir -p bin
	@go build -o bin/loop ./examples/train/learn/loop
	@bin/loop --python "$$(scripts/python.sh examples/train/requirements.txt)" --arms '$(ARMS)' --seeds '$(SEEDS)' --rounds '$(ROUNDS)' $(ARGS)

.PHONY: dev
dev: install ## Serve relabel out of this checkout and follow its changes: docs/development.md; ARGS=, RELABEL_DATA=
	@scripts/dev.sh $(ARGS)

# What the demo needs, all at once: docs/development.md has the graph.
.PHONY: demo-needs
demo-needs: programs base-image demo-image demo-downloads

.PHONY: demo-downloads
demo-downloads: install
	@scripts/tokenizers.sh qwen3 >/dev/null || true
	@scripts/python.sh taskbuild/releases/requirements.txt >/dev/null

.PHONY: programs
programs: # bin/relabel and bin/sandboxd, static
	@mkdir -p bin
	@$(go_build) -o bin ./cmd/relabel ./cmd/sandboxd

.PHONY: build
build: programs ## Build bin/relabel, bin/sandboxd and the parsers, static; relabel-parsers only with a C compiler
	@$(go_build) -o bin ./cmd/relabel-ecmascript
	@if command -v "$$(go env CC)" >/dev/null; then install "$$(scripts/parsers.sh)" bin; else \
		echo "build: no C compiler: bin/relabel-parsers is not built, so Java, Rust, C, C++, Ruby and PHP are not indexed" >&2; fi

.PHONY: install
install: ## Install what is missing on this machine, as root on Debian; else say what to run
	@scripts/install.sh

.PHONY: base-image
base-image: install ## Make the image that demo tasks and tests start from
	@scripts/base-image.sh

.PHONY: demo-tasks
demo-tasks: ## Build the demo's tasks and their images
	@$(MAKE) --no-print-directory -j demo-needs
	@scripts/demo-tasks.sh >/dev/null

.PHONY: demo-image
demo-image: install
	@scripts/runner-images.sh go

.PHONY: test
test: test-needs lint ## Everything the tests need, the checks, then all tests, some with the race detector; PKG=, RUN= narrow
	@RELABEL_TEST_PYTHON="$$(scripts/python.sh shard/testdata/requirements.txt)" scripts/test.sh '$(PKG)' '$(RUN)'

.PHONY: test-all
test-all: test ## All tests, then those that are too long for `make test`: all tokenizers, templates, alterations, forgeries, faults, and the race detector for all other tests; an hour more
	@RELABEL_TEST_PYTHON="$$(scripts/python.sh shard/testdata/requirements.txt)" scripts/test-all.sh

.PHONY: test-slice
test-slice: test-needs
	@RELABEL_TEST_PYTHON="$$(scripts/python.sh shard/testdata/requirements.txt)" scripts/test-all.sh '$(COMMITS)'

.PHONY: test-trainers
test-trainers: test-needs ## Run the loaders of trainers, each in a Python environment of its own, on exports made for them: docs/trainers.md; half an hour
	@RELABEL_TEST_TRAINERS=1 go test -count=1 -timeout 120m -v -run 'TestTrainers' ./shard

.PHONY: runner-images
runner-images: install ## Make the images with Go, Jest and Vitest that tests of the verifier start from; all: scripts/runner-images.sh python go rust node java
	@scripts/runner-images.sh

.PHONY: forgeries
forgeries: test-needs ## Try all forged submissions in real sandboxes, and list what each came to: a quarter of an hour
	@RELABEL_TEST_ALL=1 go test -count=1 -timeout 120m -v ./envs/verify/forgeries

.PHONY: languages
languages: install ## Build, validate and roll out tasks in Go, Rust, JavaScript and Java with the real registries: half an hour
	@$(MAKE) --no-print-directory -j2 build base-image
	@scripts/languages.sh

.PHONY: test-needs
test-needs: ## Install what the tests need
	@scripts/test-needs.sh

.PHONY: lint
lint: ## gofmt, go vet, staticcheck, the arrows between the folders, and plain words
	@unformatted=$$(gofmt -l .); \
		if [ -n "$$unformatted" ]; then echo "not formatted (make fmt): $$unformatted"; exit 1; fi
	@go vet ./...
	@go tool staticcheck ./...
	@go test -count=1 -run 'Folders|PackageNames|FilesAreShort|ForbiddenImports|PlainWords|ReplacedWords|LinesOfDocuments' . >/dev/null || \
		go test -count=1 -run 'Folders|PackageNames|FilesAreShort|ForbiddenImports|PlainWords|ReplacedWords|LinesOfDocuments' .

.PHONY: chaos
chaos: test-needs build ## Kill, stop and break things at random and see that nothing comes of it; KILLS=, MINUTES=, SEED=
	@RELABEL_TEST_PROGRAM="$(CURDIR)/bin/relabel" RELABEL_CHAOS_KILLS=$(KILLS) RELABEL_CHAOS_MINUTES=$(MINUTES) RELABEL_CHAOS_SEED=$(SEED) \
		go test -count=1 -timeout 120m -v -run '^TestChaos$$' ./e2e

.PHONY: bench
bench: test-needs build ## Benchmarks against their baselines, half an hour in all; BENCH= and PKG= narrow
	@go test -p 1 -run '^$$' -bench '$(BENCH)' -timeout 60m $(PKG) | scripts/bench.awk

.PHONY: fmt
fmt: ## Format the Go code
	@gofmt -w .

.PHONY: docker-image
docker-image: build ## Build the container image of relabel from bin/; BASE= what it starts from
	@scripts/runtime-image.sh "$(BASE)"
	@mkdir -p bin/data
	@docker build -q --build-arg BASE="$(BASE)" -t "$(IMAGE)" . >/dev/null
	@echo "$(IMAGE) is built"

.PHONY: compose-images
compose-images: docker-image ## The images of compose.yaml, with a local stand-in for Postgres
	@scripts/postgres-image.sh

.PHONY: clean
clean: ## Remove what was built here; caches, images and data stay
	@rm -rf bin

.PHONY: fresh
fresh: clean ## Remove the demo's images and the cache folder too; the data folder stays
	@scripts/fresh.sh
