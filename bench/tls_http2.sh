#!/usr/bin/env bash
# What TLS and HTTP/2 add to an HTTP check: one daemon with one loop, a plain listener and one with
# TLS (1.3, a P-256 certificate), the same check over each. wrk speaks HTTP/1.1, h2load HTTP/2. The
# figure to hold is the server's CPU time per request (/proc/PID/stat); the plain line stands beside
# the others, from the same minute, because machines differ from day to day.
#
#   SLUICE=build/bench/bin/sluice bench/tls_http2.sh     SECONDS_EACH=5
set -euo pipefail
sluice=${SLUICE:-build/bench/bin/sluice}
seconds=${SECONDS_EACH:-5}
work=$(mktemp -d)
server=
trap '[[ -z $server ]] || kill "$server" 2>/dev/null || true; rm -rf "$work"' EXIT

openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=localhost \
  -keyout "$work/key" -out "$work/crt" 2>/dev/null
cat >"$work/sluice.yaml" <<'YAML'
listeners:
  - {address: "127.0.0.1:0"}
  - {address: "127.0.0.1:0", tls: {cert: crt, key: key}}
loops: 1
rules:
  - id: api_rate
    key_pattern: "user:{user_id}"
    algorithm: gcra
    rate: 1000000000
    window: 1m
YAML
body='{"user_id": "u_00001", "endpoint": "/v1/charges", "cost": 1}'
printf '%s' "$body" >"$work/body"
cat >"$work/check.lua" <<LUA
local depth, close = tonumber(os.getenv("DEPTH")), os.getenv("CLOSE")
function init(args)
  local headers = {["Content-Type"] = "application/json"}
  if close then headers["Connection"] = "close" end
  local one = wrk.format("POST", "/v1/ratelimit/check", headers, [[$body]])
  all = string.rep(one, depth)
end
function request() return all end
LUA

"$sluice" serve --config "$work/sluice.yaml" >"$work/out" 2>"$work/err" &
server=$!
for _ in $(seq 100); do
  grep -q '^Try' "$work/out" && break
  kill -0 "$server" 2>/dev/null || { cat "$work/err"; exit 1; }
  sleep 0.05
done
plain=$(sed -n 's/^ *checks *\(http:[^ ]*\).*/\1/p' "$work/out" | head -n 1)
secure=$(sed -n 's/^ *checks *\(https:[^ ]*\).*/\1/p' "$work/out" | head -n 1)
path=/v1/ratelimit/check
ticks=$(getconf CLK_TCK)

# User and system time of the server in clock ticks.
cpu() { awk '{ print $14, $15 }' "/proc/$server/stat"; }

# tell NAME BEFORE REQUESTS RATE LATENCY
tell() {
  awk -v name="$1" -v before="$2" -v after="$(cpu)" -v n="$3" -v rate="$4" -v latency="$5" \
    -v ticks="$ticks" '
    BEGIN {
      split(before, b); split(after, a); each = 1e6 / ticks / n
      printf "%-34s %9.0f req/s  %-22s server CPU %.2f us/request (user %.2f, system %.2f)\n",
        name, rate, latency, (a[1] + a[2] - b[1] - b[2]) * each, (a[1] - b[1]) * each,
        (a[2] - b[2]) * each
    }'
}

# http1 NAME URL CONNECTIONS DEPTH
http1() {
  local before n rate p50
  before=$(cpu)
  DEPTH=$4 wrk -t1 -c"$3" -d"${seconds}s" --latency -s "$work/check.lua" "$2$path" >"$work/wrk"
  n=$(awk '/requests in/ { print $1 }' "$work/wrk")
  rate=$(awk '/^Requests\/sec/ { print $2 }' "$work/wrk")
  p50=$(awk '/ 50%/ { print $2 }' "$work/wrk")
  tell "$1" "$before" "$n" "$rate" "p50 $p50"
}

# http2 NAME URL CONNECTIONS STREAMS
http2() {
  local before n rate mean
  before=$(cpu)
  h2load -t1 -c"$3" -m"$4" -D"$seconds" -d "$work/body" "$2$path" >"$work/h2load"
  n=$(sed -n 's/^requests: .* \([0-9]*\) done.*/\1/p' "$work/h2load")
  rate=$(sed -n 's/^finished in .*, \([0-9.]*\) req\/s.*/\1/p' "$work/h2load")
  mean=$(awk '/^time for request/ { print $6 }' "$work/h2load")
  tell "$1" "$before" "$n" "$rate" "mean $mean"
}

echo "HTTP check, 1 loop, ${seconds}s each"
http1 "HTTP/1.1, 32 connections" "$plain" 32 1
http1 "HTTP/1.1 + TLS, 32 connections" "$secure" 32 1
http1 "HTTP/1.1, 16 pipelined" "$plain" 32 16
http1 "HTTP/1.1 + TLS, 16 pipelined" "$secure" 32 16
http2 "HTTP/2, 32 connections" "$plain" 32 1
http2 "HTTP/2 + TLS, 32 connections" "$secure" 32 1
http2 "HTTP/2, 8 connections x 32" "$plain" 8 32
http2 "HTTP/2 + TLS, 8 connections x 32" "$secure" 8 32
CLOSE=yes http1 "HTTP/1.1 + TLS, a handshake each" "$secure" 8 1
