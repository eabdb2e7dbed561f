#!/usr/bin/env bash
# What a ShouldRateLimit with two descriptors costs: a daemon with one loop on a free port, driven by
# h2load on the other core, multiplexed (8 connections x 32 streams) and one call at a time. The
# figure to hold is the server's CPU time per call (/proc/PID/stat): it does not depend on who else
# uses the machine. Budgets stand in docs/benchmarks.md.
#
#   SLUICE=build/bench/bin/sluice bench/grpc.sh     CALLS=1000000
set -euo pipefail
sluice=${SLUICE:-build/bench/bin/sluice}
calls=${CALLS:-1000000}
work=$(mktemp -d)
pid=
trap '[[ -z $pid ]] || kill "$pid" 2>/dev/null || true
      rm -rf "$work"' EXIT
ticks=$(getconf CLK_TCK)

mkdir -p "$work/ratelimit/config"
cat >"$work/ratelimit/config/config.yaml" <<'YAML'
domain: bench
descriptors:
  - key: remote_address
    rate_limit: {unit: hour, requests_per_unit: 4000000000}
  - key: user
    descriptors:
      - key: path
        rate_limit: {unit: minute, requests_per_unit: 4000000000}
YAML
cat >"$work/sluice.yaml" <<YAML
table: {path: $work/table, keys: 100000, snapshot_interval: off}
loops: 1
YAML
HOST=127.0.0.1 PORT=0 GRPC_HOST=127.0.0.1 GRPC_PORT=0 DEBUG_PORT=0 LOG_LEVEL=warn \
  RUNTIME_ROOT=$work RUNTIME_SUBDIRECTORY=ratelimit \
  "$sluice" serve --envoy --config "$work/sluice.yaml" >"$work/out" 2>"$work/err" &
pid=$!
for _ in $(seq 100); do
  grep -q '^Try' "$work/out" && break
  kill -0 "$pid" 2>/dev/null || { cat "$work/err"; exit 1; }
  sleep 0.05
done
port=$(sed -n 's/^ *grpc .*:\([0-9]*\)$/\1/p' "$work/out")

# The framed request, by hand: a length of 4 bytes, then fields of a tag, a size and their bytes.
python3 - "$work/body" <<'PY'
import struct
import sys


def field(tag, data):
    return bytes([tag << 3 | 2, len(data)]) + data


def descriptor(*entries):
    return field(2, b"".join(field(1, field(1, k) + field(2, v)) for k, v in entries))


message = (field(1, b"bench") + descriptor((b"remote_address", b"192.0.2.7"))
           + descriptor((b"user", b"u_1234567"), (b"path", b"/v1/charges")))
open(sys.argv[1], "wb").write(b"\0" + struct.pack(">I", len(message)) + message)
PY

cpu() { awk '{ print $14 + $15 }' "/proc/$pid/stat"; }

run() {
  local name=$1 connections=$2 streams=$3 count=$4 budget=$5 before after
  local load=(h2load -c "$connections" -m "$streams" -t 1 -d "$work/body"
    -H 'content-type: application/grpc' -H 'te: trailers'
    "http://127.0.0.1:$port/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit")
  "${load[@]}" -n $((count / 10)) >/dev/null # Warm.
  before=$(cpu)
  "${load[@]}" -n "$count" >"$work/load"
  after=$(cpu)
  grep -q " $count succeeded, 0 failed" "$work/load" || { cat "$work/load"; exit 1; }
  awk -v name="$name" -v budget="$budget" -v cpu=$((after - before)) -v ticks="$ticks" \
    -v n="$count" '
      /^finished in/ { rate = $4 }
      /^time for request/ { mean = $6 }
      END { printf "%-34s %9.0f calls/s  mean %8s  server CPU %5.2f us/call %s\n", name, rate, mean,
            cpu / ticks * 1e6 / n, budget }' "$work/load"
}

echo "gRPC, ShouldRateLimit with two descriptors, one loop"
run "8 connections x 32 streams" 8 32 "$calls" "(budget 2)"
run "1 connection, 1 stream" 1 1 $((calls / 10)) "(budget 28)"
