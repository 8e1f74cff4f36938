# Every target works without a terminal and can be run at any time. `make` alone lists them.

SWIFT ?= swift
# Where `make install` puts things, with GNU's names. DESTDIR is prepended to all of them.
PREFIX ?= /usr/local
prefix ?= $(PREFIX)
bindir ?= $(prefix)/bin
datadir ?= $(prefix)/share
mandir ?= $(datadir)/man
docdir ?= $(datadir)/doc/lade
sysconfdir ?= /etc
unitdir ?= $(prefix)/lib/systemd/system
# The configuration that is built, installed and packaged: release or debug.
CONFIGURATION ?= release
SECONDS_EACH ?= 60
MINUTES ?= 10
# What `make faults` tries: so many calls of each kind of SQLite, calls of the daemon, and states. Without it, all.
SAMPLE ?=
# One test, or those that a regular expression finds: `make test ONLY=CSVReaderTests`. Without it, all.
ONLY ?=
# The modules of tests that `make test` builds, separated by commas. Without it, all.
MODULES ?=
SCRIPTS = .ci/deb .ci/deps .ci/demo .ci/fuzz .ci/install .ci/models .ci/nightly .ci/run .ci/test .ci/test-sanitized .ci/test-web Benchmarks/cluster Benchmarks/install-peers Benchmarks/memory Tests/Cluster/with-hosts Tests/Service/soak Tests/Service/with-systemd
FORMATTED = Package.swift Sources Tests Benchmarks/Package.swift Benchmarks/Sources

# `check` builds and tests in one configuration, so nothing is compiled twice.
STRICT = LADE_STRICT=1
BUILD_CHECKS = --explicit-target-dependency-import-check error
TEST_FLAGS = --parallel --disable-xctest
# Tests of objects and imports are bound by the processor, so they run a few at a time: all at once, a test that waits for a
# process would get its next turn after minutes. Those of the daemon wait for sockets and files, so they run in a second pass.
AT_A_TIME = SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH=$$((2 * $$(nproc)))
COMPUTING = '^(ManagedObjects|MagicalRecord|SQLiteStore|StoreConformance|Importing|ClassGeneration|PostgresStore)Tests[.]'
POOLED = '^(PostgresStore|StoreConformance)Tests[.]|[.](SharedQueue|Fence|PostgresStore)Tests/'
# In memory where there is some: a trial makes, syncs and deletes stores, and waits for a disk as long as it computes.
EACH_WORK = .build/debug/sqlitefaults --list | shuf | TMPDIR=$(or $(wildcard /dev/shm),/tmp) xargs -P $$(nproc) -I WORK .build/debug/sqlitefaults WORK
TEST = .ci/test --skip-build $(TEST_FLAGS)
# The date of the manual pages: that of the last commit, unless the builder gives one.
DATED = SOURCE_DATE_EPOCH=$${SOURCE_DATE_EPOCH:-$$(git log -1 --format=%ct 2> /dev/null || date +%s)}

.DEFAULT_GOAL := help
.PHONY: help deps browser build man install deb demo demo-web test test-asan test-cluster test-pooler test-systemd test-tsan test-web screenshots soak faults faults-daemon faults-sqlite fuzz models nightly check example lint format classes bench-cluster bench-control bench-import bench-memory bench-web bench-peers bench-objects bench-stacks bench-queue clean

help: ## list these targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-15s%s\n", $$1, $$2 }' $(MAKEFILE_LIST)

deps: ## install missing dependencies (Debian, Ubuntu)
	@.ci/deps

browser: ## install missing dependencies, and Chromium for the tests of the web pages
	@.ci/deps browser

build: deps ## build laded and ladectl, optimised, in .build/release
	@$(SWIFT) build -c $(CONFIGURATION) --product laded
	@$(SWIFT) build -c $(CONFIGURATION) --product ladectl

man: build ## write the manual pages and completion scripts to .build/man and .build/completions
	@rm -rf .build/man && mkdir -p .build/man .build/completions
	@$(DATED) .build/$(CONFIGURATION)/ladectl manual --output .build/man
	@$(DATED) .ci/manual .build/man
	@for shell in bash zsh fish; do .build/$(CONFIGURATION)/ladectl completions $$shell > .build/completions/ladectl.$$shell; done

install: man ## install into PREFIX=/usr/local, with units, configuration and manual; honours DESTDIR
	@.ci/install $(CONFIGURATION) "$(DESTDIR)" "$(bindir)" "$(datadir)" "$(mandir)" "$(docdir)" "$(sysconfdir)" "$(unitdir)"

deb: man ## build a Debian package in .build/deb
	@.ci/deb $(CONFIGURATION)

demo: build ## import real files with a private laded and query the result
	@.ci/demo

demo-web: build ## the same, and keep the daemon running, with its web pages, until Ctrl-C
	@KEEP_OPEN=yes .ci/demo

test: export LADE_TESTS = $(MODULES)
test: deps ## run the tests, or some of them: ONLY=REGULAR_EXPRESSION, MODULES=JobsTests,SpoolTests
	@$(SWIFT) build --build-tests
ifeq ($(ONLY),)
	@$(AT_A_TIME) SWIFT=$(SWIFT) $(TEST) --filter $(COMPUTING)
	@SWIFT=$(SWIFT) $(TEST) --skip $(COMPUTING)
else
	@SWIFT=$(SWIFT) $(TEST) --filter '$(ONLY)'
endif

test-pooler: deps ## run the tests of queues and stores in PostgreSQL through PgBouncer in transaction mode, with eight sessions
	@$(SWIFT) build --build-tests
	@LADE_TEST_POOLER=8 SWIFT=$(SWIFT) $(TEST) --filter $(POOLED)

test-tsan: deps ## run the tests under ThreadSanitizer, including the daemon's processes; hours
	@.ci/test-sanitized thread

test-asan: deps ## run the tests under AddressSanitizer, including the daemon's processes; hours
	@.ci/test-sanitized address

test-web: browser build ## test the web pages in Chromium, if there is one
	@.ci/test-web $$PWD/.build/$(CONFIGURATION)

screenshots: browser build ## take the pictures of the web pages in docs/screenshots again, if there is a Chromium
	@mkdir -p docs/screenshots
	@SCREENSHOTS=$$PWD/docs/screenshots .ci/test-web $$PWD/.build/$(CONFIGURATION) Pages.test_screenshots

test-systemd: ## test the package under a real systemd, in throw-away namespaces
	@if why=$$(Tests/Service/with-systemd --check 2>&1); then \
	  $(MAKE) --no-print-directory deb && LADE_CONFIGURATION=$(CONFIGURATION) bats --jobs 2 Tests/Service; \
	else \
	  echo "test-systemd: skipped: $$why"; \
	fi

test-cluster: build ## kill, stop and cut off daemons that share a PostgreSQL server with a standby, in throw-away namespaces
	@if why=$$(Tests/Cluster/with-hosts --check 2>&1); then \
	  LADE_PROGRAMS=$(CURDIR)/.build/$(CONFIGURATION) bats --jobs 2 Tests/Cluster; \
	else \
	  echo "test-cluster: skipped: $$why"; \
	fi

soak: deb ## run the service under mixed load for MINUTES=10: memory and descriptors must stay flat
	@LADE_CONFIGURATION=$(CONFIGURATION) Tests/Service/soak $(MINUTES)

faults: faults-daemon faults-sqlite ## let every call fail once and for good, for hours (SAMPLE=50: fewer)

faults-sqlite: deps ## the calls of SQLite among them
	@$(SWIFT) build --product sqlitefaults
ifneq ($(SAMPLE),)
	@$(EACH_WORK) --sample $(SAMPLE)
else
# Nine calls of ten are allocations, so these come last: all of them take hours. In random order, a time limit doesn't always
# cut off the same works.
	@$(EACH_WORK) --memory 3
	@$(EACH_WORK) --call malloc
endif

faults-daemon: deps ## fail every system call of the daemon, kill it at every change, open every state after a loss of power; hours
	@$(SWIFT) build --build-tests
	@LADE_FAULTS=$(or $(SAMPLE),all) SWIFT=$(SWIFT) $(TEST) --filter 'LadeDaemonTests[.](EveryCall|CrashState|[A-Z][a-z]*Kill|Evolution)Tests'

fuzz: deps ## fuzz the readers with libFuzzer and AddressSanitizer (SECONDS_EACH=60, TARGETS="csv json")
	@SECONDS_EACH=$(SECONDS_EACH) .ci/fuzz $(TARGETS)

models: deps ## verify the models of the protocols with spin, and that their mutations fail; half a minute
	@.ci/models

nightly: deps ## check, models, faults, cluster, sanitizers, fuzz and soak, then one page of results (PARTS="models fuzz", LIMITS="soak=2h")
	@.ci/nightly

check: browser lint models ## everything a change must pass: lint, models, a build with warnings as errors, all tests
	@$(STRICT) $(SWIFT) build --build-tests $(BUILD_CHECKS)
	@$(STRICT) $(AT_A_TIME) SWIFT=$(SWIFT) $(TEST) --filter $(COMPUTING)
	@$(STRICT) SWIFT=$(SWIFT) $(TEST) --skip $(COMPUTING)
	@$(MAKE) --no-print-directory example
	@PEOPLE=20000 LADE_PROGRAMS=$(CURDIR)/.build/debug .ci/demo > .build/demo.log 2>&1 || { cat .build/demo.log; exit 1; }
	@.ci/test-web $(CURDIR)/.build/debug
	@$(STRICT) $(MAKE) --no-print-directory test-systemd CONFIGURATION=debug

example: deps ## build and run a separate package that uses the libraries
	@$(SWIFT) run --package-path Tests/ExamplePackage --scratch-path .build/example

lint: ## check the format of the sources and the syntax of the scripts
	@for script in $(SCRIPTS); do bash -n $$script || exit 1; done
	@for script in .ci/manual .ci/copyright Tests/Cluster/cutting-proxy; do perl -c $$script 2> /dev/null || perl -c $$script || exit 1; done
	@for script in Tests/Cluster/*.bash; do bash -n $$script || exit 1; done
	@for script in systemd/debian/p*; do sh -n $$script || exit 1; done
	@.ci/vocabulary
	@$(SWIFT) format lint --strict --parallel --recursive $(FORMATTED)
	@echo "lint: clean"

classes: deps ## generate the classes of the queue's objects from its model, after a change of the model
	@$(SWIFT) run modelclasses Sources/Jobs/Model/Queue.xcdatamodel Sources/Jobs/Model/Generated Jobs

format: ## format the sources
	@$(SWIFT) format --in-place --parallel --recursive $(FORMATTED)

bench-import: deps ## imports against sqlite3, DuckDB, sqlite-utils and a C program (ARGS=--help lists options)
	@$(SWIFT) build -c release --package-path Benchmarks
	@Benchmarks/.build/release/bench import $(ARGS)

bench-control: build ## response times of a daemon that imports, and the cost of standing queries (ARGS=--help)
	@$(SWIFT) build -c release --package-path Benchmarks
	@Benchmarks/.build/release/bench control $(ARGS)

bench-memory: build ## what a daemon holds after 1,000 mixed jobs, and the peak of an import (ARGS=JOBS)
	@Benchmarks/memory $(ARGS)

bench-web: build ## response times of the web pages with a million jobs and ten million rows (ARGS=--help)
	@Benchmarks/web $(ARGS)

bench-peers: ## install the programs that the benchmarks compare with, into Benchmarks/.peers
	@Benchmarks/install-peers

bench-objects: deps ## objects against GRDB's records, and the cost of the object layer (ARGS=--help)
	@$(SWIFT) build -c release --package-path Benchmarks
	@Benchmarks/.build/release/bench objects $(ARGS)

bench-stacks: deps ## the three stacks of contexts: totals, and the load of the main queue (ARGS=--help)
	@$(SWIFT) build -c release --package-path Benchmarks
	@Benchmarks/.build/release/bench stacks $(ARGS)

bench-queue: deps ## durable empty jobs against beanstalkd, SqliteHuey and raw SQLite (ARGS=--help)
	@$(SWIFT) build -c release --package-path Benchmarks
	@Benchmarks/.build/release/bench queue $(ARGS)

bench-cluster: deps ## a queue in PostgreSQL with 1, 2 and 4 daemons, long queues, 64 idle daemons (ARGS=--help)
	@$(SWIFT) build -c release --package-path Benchmarks --product lade-queue && $(SWIFT) build -c release --package-path Benchmarks --product queue-load
	@Benchmarks/cluster $(ARGS)

clean: ## remove everything that was built and measured
	@rm -rf .build Benchmarks/.build Benchmarks/results Benchmarks/.peers
