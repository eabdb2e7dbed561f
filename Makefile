# What people type. The building itself is CMake's (CMakePresets.json).

JOBS ?= $(shell nproc)
PREFIX ?= /usr/local
CONFIG ?= examples/quickstart.yaml
SLUICE_SOAK ?= 100
FUZZ_SECONDS ?= 60
TARGET ?=

.DEFAULT_GOAL := help
.PHONY: help run test bench format lint soak asan tsan fuzz install clean setup

help:  ## Show this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup:
	@tools/setup.sh build

# Ninja runs CMake again when a CMakeLists.txt changes; a changed preset is up to us.
build/%/build.ninja: CMakePresets.json | setup
	@cmake --preset $* >build.log 2>&1 || { cat build.log; rm -f build.log; exit 1; }
	@rm -f build.log
	@touch $@

run: build/release/build.ninja  ## Build what ships and start the daemon (CONFIG=examples/quickstart.yaml)
	@cmake --build --preset release --target sluice
	@exec build/release/bin/sluice serve --config $(CONFIG)

test: build/dev/build.ninja  ## Build and run every test
	@cmake --build --preset dev
	@ctest --preset dev -j $(JOBS)

bench: build/release/build.ninja  ## Measure the engine and the HTTP door (docs/benchmarks.md)
	@tools/setup.sh bench
	@cmake --build --preset release
	@tools/bench.sh build/release/bin

format:  ## Rewrite our C++ in our style
	@tools/setup.sh lint
	@tools/lint.sh format

lint: | setup  ## Check style, clang-tidy, layers, headers, scripts
	@tools/setup.sh lint
	@$(MAKE) --no-print-directory build/fuzz/build.ninja
	@tools/lint.sh

soak: build/release/build.ninja  ## Search for hours: SLUICE_SOAK=100 times the seeds, then fuzz
	@cmake --build --preset release
	@tools/soak.sh build/release/bin $(SLUICE_SOAK)
	@$(MAKE) --no-print-directory fuzz FUZZ_SECONDS=600

asan: build/asan/build.ninja  ## Run the tests under address and undefined-behaviour sanitizers
	@cmake --build --preset asan
	@ctest --preset asan -j $(JOBS)

tsan: build/tsan/build.ninja  ## Run the tests under the thread sanitizer
	@cmake --build --preset tsan
	@ctest --preset tsan -j $(JOBS)

fuzz: | setup  ## Fuzz each parser (FUZZ_SECONDS=60, TARGET=one_fuzz)
	@tools/setup.sh fuzz
	@$(MAKE) --no-print-directory build/fuzz/build.ninja
	@cmake --build --preset fuzz --target fuzzers
	@tools/fuzz.sh build/fuzz/bin $(FUZZ_SECONDS) $(TARGET)

install: build/release/build.ninja  ## Install daemon, library and unit file (PREFIX=/usr/local)
	@cmake --build --preset release
	@cmake --install build/release --prefix $(PREFIX)

clean:  ## Remove all build trees
	@rm -rf build
