#!/usr/bin/env bash
# Runs libFuzzer targets, each for some seconds, from the corpus in fuzz/<target>/corpus.
#
#   tools/fuzz.sh BIN_DIR SECONDS [TARGET]      TARGET: the program's name, e.g. json_fuzz
#
# What it finds on the way is kept in BIN_DIR/../corpus; a failing input is left in
# BIN_DIR/../findings: copy it into fuzz/<target>/corpus with the fix.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
bin=$1 seconds=$2 only=${3:-}
shopt -s nullglob
programs=("$bin"/*_fuzz)
[[ -n $only ]] && programs=("$bin/$only")
[[ ${#programs[@]} -gt 0 ]] || { echo "fuzz: no programs in $bin" >&2; exit 1; }
for program in "${programs[@]}"; do
  name=$(basename "$program")
  target=${name%_fuzz}
  corpus=$bin/../corpus/$target
  findings=$bin/../findings/$target
  mkdir -p "$corpus" "$findings"
  options=(-max_total_time="$seconds" -artifact_prefix="$findings/" -print_final_stats=1)
  [[ -f $root/fuzz/$target/$target.dict ]] && options+=(-dict="$root/fuzz/$target/$target.dict")
  seeds=()
  [[ -d $root/fuzz/$target/corpus ]] && seeds=("$root/fuzz/$target/corpus")
  echo "== $name for $seconds s"
  "$program" "${options[@]}" "$corpus" "${seeds[@]}" 2>&1 | tail -n 12
done
