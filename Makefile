# Every target works without a terminal and may be run at any time. `make` alone lists them.

SWIFT ?= swift
# Where `make install` puts things, by GNU's names; DESTDIR stands before all of them.
PREFIX ?= /usr/local
prefix ?= $(PREFIX)
bindir ?= $(prefix)/bin
datadir ?= $(prefix)/share
mandir ?= $(datadir)/man
docdir ?= $(datadir)/doc/lade
sysconfdir ?= /etc
unitdir ?= $(prefix)/lib/systemd/system
# What is built, installed and packed: release or debug.
CONFIGURATION ?= release
SECONDS_EACH ?= 60
MINUTES ?= 10
SCRIPTS = .ci/deb .ci/deps .ci/demo .ci/fuzz .ci/install .ci/run .ci/test-tsan Benchmarks/install-peers Tests/Service/soak Tests/Service/with-systemd
FORMATTED = Package.swift Sources Tests Benchmarks/Package.swift Benchmarks/Sources

# `check` builds and tests in one and the same configuration, so that nothing is compiled twice.
STRICT = LADE_STRICT=1
BUILD_CHECKS = --explicit-target-dependency-import-check error
TEST_FLAGS = --parallel --disable-xctest
# The tests of objects and imports compute; those of the daemon wait for sockets and files, and shouldn't starve beside them.
COMPUTING = '^(ManagedObjects|SQLiteStore|Importing|ClassGeneration|GeneratedClasses)Tests[.]'
TEST = test --skip-build $(TEST_FLAGS)

.DEFAULT_GOAL := help
.PHONY: help deps build man install deb demo test test-systemd test-tsan soak fuzz check example lint format bench-control bench-import bench-peers bench-objects bench-stacks bench-queue clean

help: ## list these targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s%s\n", $$1, $$2 }' $(MAKEFILE_LIST)

deps: ## find out what is missing and install just that (Debian, Ubuntu)
	@.ci/deps

build: deps ## laded and ladectl, optimised, in .build/release
	@$(SWIFT) build -c $(CONFIGURATION) --product laded
	@$(SWIFT) build -c $(CONFIGURATION) --product ladectl

man: build ## ladectl's manual pages and completion scripts, in .build/man1 and .build/completions
	@mkdir -p .build/man1 .build/completions
	@.build/$(CONFIGURATION)/ladectl manual --output .build/man1
	@for shell in bash zsh fish; do .build/$(CONFIGURATION)/ladectl completions $$shell > .build/completions/ladectl.$$shell; done

install: man ## into PREFIX=/usr/local, with units, configuration and manual; DESTDIR stands before it
	@.ci/install $(CONFIGURATION) "$(DESTDIR)" "$(bindir)" "$(datadir)" "$(mandir)" "$(docdir)" "$(sysconfdir)" "$(unitdir)"

deb: man ## a Debian package, in .build/deb
	@.ci/deb $(CONFIGURATION)

demo: build ## a private laded takes in real files; then a query of what came in
	@.ci/demo

test: deps ## the test suite
	@$(SWIFT) build --build-tests
	@$(SWIFT) $(TEST) --filter $(COMPUTING)
	@$(SWIFT) $(TEST) --skip $(COMPUTING)

test-tsan: deps ## the test suite under ThreadSanitizer, laded's processes included; half an hour
	@.ci/test-tsan

test-systemd: ## the package under a real systemd, in throw-away namespaces; says where that can't be
	@if why=$$(Tests/Service/with-systemd --check 2>&1); then \
	  $(MAKE) --no-print-directory deb && LADE_CONFIGURATION=$(CONFIGURATION) bats --jobs 2 Tests/Service; \
	else \
	  echo "test-systemd: left out: $$why"; \
	fi

soak: deb ## the service under mixed load for MINUTES=10: memory and descriptors have to stay flat
	@Tests/Service/soak $(MINUTES)

fuzz: deps ## each reader of files under libFuzzer and AddressSanitizer (SECONDS_EACH=60, TARGETS="csv json")
	@SECONDS_EACH=$(SECONDS_EACH) .ci/fuzz $(TARGETS)

check: deps lint ## what a change has to pass: lint, a build with warnings as errors, all tests
	@$(STRICT) $(SWIFT) build --build-tests $(BUILD_CHECKS)
	@$(STRICT) $(SWIFT) $(TEST) --filter $(COMPUTING)
	@$(STRICT) $(SWIFT) $(TEST) --skip $(COMPUTING)
	@$(MAKE) --no-print-directory example
	@$(STRICT) $(MAKE) --no-print-directory test-systemd CONFIGURATION=debug

example: deps ## a package outside that uses the object layer, with classes from its model: built and run
	@$(SWIFT) run --package-path Tests/ExamplePackage --scratch-path .build/example

lint: ## the format of the sources, the syntax of the scripts
	@for script in $(SCRIPTS); do bash -n $$script || exit 1; done
	@$(SWIFT) format lint --strict --parallel --recursive $(FORMATTED)
	@echo "lint: clean"

format: ## bring the sources into that format
	@$(SWIFT) format --in-place --parallel --recursive $(FORMATTED)

bench-import: deps ## imports, against sqlite3, DuckDB, sqlite-utils and the limit (ARGS=--help: its options)
	@$(SWIFT) build -c release --package-path Benchmarks
	@Benchmarks/.build/release/bench import $(ARGS)

bench-control: build ## how soon a daemon answers while it imports, and what standing queries cost (ARGS=--help: its options)
	@$(SWIFT) build -c release --package-path Benchmarks
	@Benchmarks/.build/release/bench control $(ARGS)

bench-peers: ## install what bench-import and bench-queue are held against, into Benchmarks/.peers
	@Benchmarks/install-peers

bench-objects: deps ## objects against GRDB's records, and what the object layer costs (ARGS=--help: its options)
	@$(SWIFT) build -c release --package-path Benchmarks
	@Benchmarks/.build/release/bench objects $(ARGS)

bench-stacks: deps ## the three stacks of contexts: totals, and how busy the main queue was (ARGS=--help: its options)
	@$(SWIFT) build -c release --package-path Benchmarks
	@Benchmarks/.build/release/bench stacks $(ARGS)

bench-queue: deps ## durable jobs that do nothing, against beanstalkd, SqliteHuey and raw SQLite (ARGS=--help: its options)
	@$(SWIFT) build -c release --package-path Benchmarks
	@Benchmarks/.build/release/bench queue $(ARGS)

clean: ## remove what was built and measured
	@rm -rf .build Benchmarks/.build Benchmarks/results Benchmarks/.peers
