#!/usr/bin/env bash
# Runs every benchmark program and those of the front ends, one after the other, on a quiet machine. One that
# fails, or misses a bound of its own, does not keep the others from running; the last line names it.
#
#   tools/bench.sh BIN_DIR [NAME]     NAME: part of a program's name, to run only those
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
bin=$1 only=${2:-}
shopt -s nullglob
failed=()
echo "machine: $(nproc) cores, $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)," \
  "Linux $(uname -r), $(g++ --version | head -n 1)"
for program in "$bin"/*_bench; do
  [[ $program == *"$only"* ]] || continue
  echo "== $(basename "$program")"
  "$program" || failed+=("$(basename "$program")")
done
for script in "$root"/bench/*.sh "$root"/bench/instructions.py "$root"/bench/redis_faults.py; do
  [[ $script == *"$only"* ]] || continue
  echo "== $(basename "$script")"
  SLUICE="$bin/sluice" "$script" || failed+=("$(basename "$script")")
done
[[ ${#failed[@]} -eq 0 ]] || { echo "failed: ${failed[*]}" >&2; exit 1; }
