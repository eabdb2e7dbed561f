#!/usr/bin/env bash
# What reading and judging a log costs: a combined log made up here (Zipf-like clients, 500
# requests a second, completion order a little off), replayed and suggested from. The figure to
# hold is lines per second of CPU time, user and system together; the aim is 1,000,000.
#
#   SLUICE=build/bench/bin/sluice bench/replay.sh     LINES=2000000 KEYS=100000
set -euo pipefail
sluice=${SLUICE:-build/bench/bin/sluice}
lines=${LINES:-2000000}
keys=${KEYS:-100000}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cat >"$work/make.py" <<'PYTHON'
import random, sys, time
lines, keys = int(sys.argv[1]), int(sys.argv[2])
draw = random.Random(1)
paths = ["/", "/index.html", "/api/v1/items?page=%d", "/api/v1/items/%d", "/static/app.%d.js", "/login"]
agents = ["Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0.0.0 Safari/537.36",
          "Mozilla/5.0 (iPhone; CPU iPhone OS 17_0 like Mac OS X) AppleWebKit/605.1.15", "curl/8.4.0"]
stamps = {}
write = sys.stdout.write
for i in range(lines):
    second = 1765962000 + i // 500 - (1 if draw.random() < 0.05 else 0)
    if second not in stamps:
        stamps = {k: v for k, v in stamps.items() if k > second - 5}
        stamps[second] = time.strftime("%d/%b/%Y:%H:%M:%S +0000", time.gmtime(second))
    key = int(keys ** draw.random())
    path = draw.choice(paths)
    write('10.%d.%d.%d - - [%s] "GET %s HTTP/1.1" 200 %d "https://shop.example/" "%s"\n' % (
        key >> 16, key >> 8 & 255, key & 255, stamps[second], path % i if "%" in path else path,
        1000 + i % 5000, draw.choice(agents)))
PYTHON
cat >"$work/rules.yaml" <<'YAML'
rules:
  - id: per_ip
    key_pattern: "ip:{ip}"
    algorithm: token_bucket
    rate: 60
    window: 1m
YAML
python3 "$work/make.py" "$lines" "$keys" >"$work/access.log"
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
