#!/usr/bin/env bash
# What reading and judging a log costs: a log that make_log.py made up, replayed and suggested from.
# The figure to hold is lines per second of CPU time, user and system together; the aim is 1,000,000.
#
#   SLUICE=build/bench/bin/sluice bench/replay.sh     LINES=2000000 KEYS=100000
set -euo pipefail
sluice=${SLUICE:-build/bench/bin/sluice}
lines=${LINES:-2000000}
keys=${KEYS:-100000}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cat >"$work/rules.yaml" <<'YAML'
rules:
  - id: per_ip
    key_pattern: "ip:{ip}"
    algorithm: token_bucket
    rate: 60
    window: 1m
YAML
"$(dirname "$0")/make_log.py" "$lines" "$keys" >"$work/access.log"
gzip -1 -k "$work/access.log"

run() {
  local name=$1
  shift
  local TIMEFORMAT="%U %S"
  local times
  times=$({ time "$sluice" "$@" >/dev/null; } 2>&1)
  awk -v name="$name" -v lines="$lines" '{
    printf "%-34s %9.0f lines per second of CPU (%.2f s)\n", name, lines / ($1 + $2), $1 + $2 }' <<<"$times"
}

echo "replay of a combined log: $lines lines, up to $keys clients, $(stat -c %s "$work/access.log") bytes"
run "replay, one rule by ip" replay --rules "$work/rules.yaml" "$work/access.log"
run "the same, gzip" replay --rules "$work/rules.yaml" "$work/access.log.gz"
run "the same, --compare" replay --rules "$work/rules.yaml" --compare "$work/access.log"
run "suggest by ip" suggest "$work/access.log"
