# Sharehook's targets; `make` lists them. Each does its own set-up, on a
# machine that has Go and, where Kafka is needed, can install from Debian.

# The versions of what is not in go.mod. Kafka's is in test/kafka/pom.xml.
GOLANGCI_VERSION := v2.15.0
GO_IMAGE         := docker.io/library/golang:1.26

VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
COMMIT  ?= $(shell git rev-parse --short=12 HEAD 2>/dev/null || echo unknown)
IMAGE   ?= sharehook:$(VERSION)

SHELL       := bash
.SHELLFLAGS := -euo pipefail -c
MAKEFLAGS   += --no-builtin-rules

golangci  = $(or $(shell command -v golangci-lint),$(shell go env GOPATH)/bin/golangci-lint)
container = $(or $(shell command -v docker),$(shell command -v podman),docker)
ldflags   = -s -w -X main.version=$(VERSION) -X main.commit=$(COMMIT)

# go test without the lines that only say that a test began.
verdicts = grep --line-buffered -v '^=== '

# Packages with tests that need a real Kafka.
with_kafka = $(sort $(dir $(shell grep -rl --include='*_test.go' '^//go:build kafka' . | sed 's|^|./|;s|^././|./|')))

.PHONY: help
help: ## list the targets
	@grep -hE '^[a-z]+:.*## ' Makefile | sed 's/:.*## /\t/' | expand -t 14

.PHONY: test
test: kafka vet lint unit integration ## everything that must be well before a change goes in

.PHONY: vet
vet: ## go vet, the tests that need Kafka included
	go vet -tags kafka ./...

.PHONY: lint
lint: ## golangci-lint, where it is installed (make tools)
	@if [ -x "$(golangci)" ]; then set -x; "$(golangci)" run --allow-parallel-runners; \
	else echo "golangci-lint is not installed: make tools"; fi

.PHONY: unit
unit: ## tests that need nothing but Go, with the race detector
	go test -race -timeout 10m -v ./... | $(verdicts)

.PHONY: integration
integration: kafka ## the same promises on a real Kafka; one package at a time, for each has a cluster
	go test -race -timeout 15m -tags kafka -p 1 -v $(with_kafka) | $(verdicts)

FUZZTIME ?= 10s
.PHONY: fuzz
fuzz: ## each fuzz target for FUZZTIME (10s)
	@grep -rno --include='*_test.go' '^func Fuzz[A-Za-z0-9_]*' . | sed -E 's|/[^/]*:[0-9]+:func | |' | \
	while read -r package target; do \
		echo "$$package $$target"; \
		go test -run '^$$' -fuzz "^$$target$$" -fuzztime $(FUZZTIME) "$$package"; \
	done

BENCHFLAGS ?=
.PHONY: bench
bench: kafka ## the gateway against a real Kafka, with goals; BENCHFLAGS=-h shows what it takes
	go run ./test/bench $(BENCHFLAGS)

CHAOSFLAGS ?=
.PHONY: chaos
chaos: kafka ## things break around the gateway on a real Kafka, and a ledger is kept; CHAOSFLAGS=-h shows what it takes
	go run ./test/chaos $(CHAOSFLAGS)

.PHONY: microbench
microbench: kafka ## the benchmarks of the packages, on a real Kafka where they need one
	go test -tags kafka -p 1 -run '^$$' -bench . -benchmem ./...

.PHONY: dev
dev: ## everything on one machine: broker, receiver, records, gateway
	go run ./cmd/sharehook dev

.PHONY: build
build: ## bin/sharehook, static
	CGO_ENABLED=0 go build -trimpath -ldflags '$(ldflags)' -o bin/sharehook ./cmd/sharehook

.PHONY: image
image: ## the container image, with docker or podman
	$(container) build --build-arg GO_IMAGE=$(GO_IMAGE) --build-arg VERSION=$(VERSION) --build-arg COMMIT=$(COMMIT) -t $(IMAGE) .

.PHONY: kafka
kafka: ## the jars of the Kafka that the tests run against, and what runs them
	@test/kafka/install.sh

.PHONY: tools
tools: ## golangci-lint, unless it is there
	@[ -x "$(golangci)" ] || go install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(GOLANGCI_VERSION)
