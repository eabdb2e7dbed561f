#!/usr/bin/env bash
# Runs the tests that search (properties, conformance, simulation, signals) with many more seeds.
#
#   tools/soak.sh BIN_DIR FACTOR
#
# The tests read SLUICE_SOAK and multiply their steps or seeds by it. They are run directly,
# not by ctest, whose time limits are for everyday runs.
set -euo pipefail
bin=$1
export SLUICE_SOAK=$2
failed=()
shopt -s nullglob
for test in "$bin"/*_{property,conformance,difference,simulation}_test; do
  echo "== $(basename "$test"), SLUICE_SOAK=$SLUICE_SOAK"
  "$test" --gtest_brief=1 || failed+=("$(basename "$test")")
done
echo "== signals_test.py, SLUICE_SOAK=$SLUICE_SOAK"
"$(dirname "$0")/../tests/e2e/daemon/signals_test.py" "$bin/sluice" || failed+=(signals_test.py)
[[ ${#failed[@]} -eq 0 ]] || { echo "soak: failed: ${failed[*]}" >&2; exit 1; }
