#!/usr/bin/env bash
# Compiles the core for the lab's page: docs/lab/core.wasm. Needs clang 19 with its C++ library for WASI
# (Debian: libc++-19-dev-wasm32, libclang-rt-19-dev-wasm32, lld-19).
#
#   tools/lab.sh [FILE]    writes FILE, or docs/lab/core.wasm; exit code 77: there is no such compiler
set -euo pipefail
cd "$(dirname "$0")/.."
clang=${CLANG:-clang++-19}
if ! command -v "$clang" >/dev/null || [[ ! -d /usr/include/wasm32-wasi/c++ ]]; then
  echo "skipped: no $clang with a C++ library for wasm32-wasi"
  exit 77
fi
# A failed assertion traps: messages would need a system to write them to.
"$clang" --target=wasm32-wasi -mexec-model=reactor -std=c++20 -Os -DNDEBUG -fno-exceptions -fno-rtti \
  '-D_LIBCPP_VERBOSE_ABORT(...)=__builtin_trap()' -Wl,--gc-sections,--strip-all -Iinclude -Isrc \
  apps/lab/wasm.cc src/core/{algorithm_state,lab_key}.cc \
  src/core/{concurrency,fixed_window,reserves,sliding_window,sliding_window_counter}.cc \
  -o "${1:-docs/lab/core.wasm}"
