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
found=()
for program in "${programs[@]}"; do
  [[ -x $program ]] || {
    echo "fuzz: no target $only; there are: $(cd "$bin" && echo *_fuzz)" >&2
    exit 1
  }
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
  log=$findings.log
  if "$program" "${options[@]}" "$corpus" "${seeds[@]}" >"$log" 2>&1; then
    grep -E '^Done |stat::(average_exec_per_sec|new_units_added)' "$log"
  else
    tail -n 40 "$log"
    found+=("$name")
  fi
done
[[ ${#found[@]} -eq 0 ]] || {
  echo "fuzz: ${found[*]} found something: the inputs and logs are in $bin/../findings" >&2
  exit 1
}
