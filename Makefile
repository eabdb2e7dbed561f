# What people type. The building itself is CMake's (CMakePresets.json).

JOBS ?= $(shell nproc)
PREFIX ?= /usr/local
CONFIG ?= examples/quickstart.yaml
SLUICE_SOAK ?= 100
FUZZ_SECONDS ?= 60
TARGET ?=
CMD ?= make test

.DEFAULT_GOAL := help
.PHONY: help run test bare bench format lint soak asan tsan fuzz deb image package-check arm64 install clean setup

help:  ## Show this list
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run:  ## Build the daemon alone and start it (CONFIG=examples/quickstart.yaml)
	@tools/setup.sh run
	@tools/build.sh release sluice
	@exec build/release/bin/sluice serve --config $(CONFIG)

test: setup  ## Build and run every test
	@tools/build.sh dev
	@ctest --preset dev -j $(JOBS)

bare:  ## Run CMD as on a new machine (CMD='make test')
	@tools/setup.sh bare
	@tools/bare.sh '$(CMD)'

bench: setup  ## Measure the engine and the front ends (docs/benchmarks.md)
	@tools/setup.sh bench
	@tools/build.sh bench
	@tools/bench.sh build/bench/bin

format:  ## Rewrite our C++ in our style
	@tools/setup.sh lint
	@tools/lint.sh format

lint: setup  ## Check style, clang-tidy, layers, headers, scripts
	@tools/setup.sh lint
	@cmake --preset fuzz >/dev/null
	@tools/lint.sh

soak: setup  ## Search for hours: SLUICE_SOAK=100 times the seeds, then fuzz, then ARM
	@tools/build.sh bench
	@tools/soak.sh build/bench/bin $(SLUICE_SOAK)
	@$(MAKE) --no-print-directory fuzz FUZZ_SECONDS=600
	@$(MAKE) --no-print-directory arm64

asan: setup  ## Run the tests under address and undefined-behaviour sanitizers
	@tools/build.sh asan
	@ctest --preset asan -j $(JOBS)

tsan: setup  ## Run the tests under the thread sanitizer
	@tools/build.sh tsan
	@ctest --preset tsan -j $(JOBS)

fuzz: setup  ## Fuzz each parser (FUZZ_SECONDS=60, TARGET=one_fuzz)
	@tools/setup.sh fuzz
	@tools/build.sh fuzz fuzzers
	@tools/fuzz.sh build/fuzz/bin $(FUZZ_SECONDS) $(TARGET)

install:  ## Install daemon, library and unit file (PREFIX=/usr/local)
	@tools/setup.sh run
	@tools/build.sh release
	@cmake --install build/release --prefix $(PREFIX)

deb:  ## Build the Debian packages (build/deb), read by lintian
	@tools/setup.sh run package
	@packaging/build_deb.sh

image: deb  ## Build a container image of the package (build/image), without an engine
	@packaging/build_image.sh

package-check: image  ## Try packages, image, chart in roots of their own (as root)
	@tools/build.sh release sluice
	@packaging/check_container.sh build/release/bin/sluice
	@packaging/try_deb.sh
	@packaging/run_autopkgtest.sh
	@packaging/try_image.sh

arm64: setup  ## Cross-build tests for 64-bit ARM and run them under qemu
	@tools/setup.sh arm64
	@tools/arm64.sh

setup:
	@tools/setup.sh run test

clean:  ## Remove all build trees
	@rm -rf build
