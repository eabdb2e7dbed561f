#!/usr/bin/env bash
# Configures if need be and builds, and says what it does. Prints nothing where nothing is to do.
#
#   tools/build.sh PRESET [TARGET...]     a preset of CMakePresets.json; all targets if none is named
set -euo pipefail
cd "$(dirname "$0")/.."
preset=$1
shift
tree=build/$preset
# Ninja runs CMake again when a CMakeLists.txt changes; a changed preset is up to us.
if [[ ! -f $tree/build.ninja || CMakePresets.json -nt $tree/build.ninja ]]; then
  echo "build: configuring $tree"
  log=$(mktemp)
  trap 'rm -f "$log"' EXIT
  cmake --preset "$preset" >"$log" 2>&1 || { cat "$log" >&2; exit 1; }
  touch "$tree/build.ninja"
fi
plan=$(ninja -C "$tree" -n "$@" | tail -n 1)  # "[83/83] Linking …", or that there is none.
if [[ $plan != *"no work to do"* ]]; then
  steps=${plan#[} steps=${steps%%/*}
  echo "build: ${*:-everything} in $tree, $steps steps (the first time takes minutes)"
  NINJA_STATUS='build: %f of %t steps, %e s: ' ninja -C "$tree" "$@"
fi
