#!/usr/bin/env bash
# What an HTTP check costs: a daemon with one loop on a free port, wrk on the other core, one
# JSON body of 40-odd bytes over 10,000 users. The figure to hold is the server's CPU time per
# request (/proc/PID/stat). What of it is the kernel's differs from machine to machine and from
# day to day, so a control stands beside it: a server that only echoes (bench/echo_server.cc),
# under the same load, each time right before the daemon. Budgets stand in docs/benchmarks.md.
#
#   SLUICE=build/bench/bin/sluice bench/http.sh     SECONDS_EACH=5 CONNECTIONS=32
set -euo pipefail
sluice=${SLUICE:-build/bench/bin/sluice}
echo_server=${ECHO_SERVER:-$(dirname "$sluice")/echo_server}
seconds=${SECONDS_EACH:-5}
connections=${CONNECTIONS:-32}
work=$(mktemp -d)
server=
control=
pid=
trap 'for pid in $server $control; do kill "$pid" 2>/dev/null || true; done; rm -rf "$work"' EXIT

cat >"$work/sluice.yaml" <<'YAML'
listeners:
  - address: 127.0.0.1:0
loops: 1
rules:
  - id: api_rate
    key_pattern: "user:{user_id}"
    algorithm: gcra
    rate: 1000000000
    window: 1m
YAML
cat >"$work/check.lua" <<'LUA'
local depth = tonumber(os.getenv("DEPTH"))
local requests, next_one = {}, 0
function init(args)
  for i = 1, 10000, depth do
    local many = {}
    for k = 0, depth - 1 do
      local body = string.format('{"user_id": "u_%05d", "endpoint": "/v1/charges", "cost": 1}', i + k)
      many[#many + 1] = wrk.format("POST", "/v1/ratelimit/check",
        {["Content-Type"] = "application/json"}, body)
    end
    requests[#requests + 1] = table.concat(many)
  end
end
function request()
  next_one = next_one % #requests + 1
  return requests[next_one]
end
LUA

"$sluice" serve --config "$work/sluice.yaml" >"$work/out" 2>"$work/err" &
server=$!
for _ in $(seq 100); do
  grep -q '^Try' "$work/out" && break
  kill -0 "$server" 2>/dev/null || { cat "$work/err"; exit 1; }
  sleep 0.05
done
url=$(sed -n 's/^ *checks *//p' "$work/out" | head -n 1)
"$echo_server" >"$work/port" &
control=$!
until [[ -s $work/port ]]; do sleep 0.05; done
control_url="http://127.0.0.1:$(cat "$work/port")/v1/ratelimit/check"
ticks=$(getconf CLK_TCK)

# User and system time of a process in clock ticks.
cpu() { awk '{ print $14, $15 }' "/proc/$1/stat"; }

# run NAME DEPTH PID URL NOTE
run() {
  local before after
  DEPTH=$2 wrk -t1 -c"$connections" -d1s -s "$work/check.lua" "$4" >/dev/null # Warm.
  before=$(cpu "$3")
  DEPTH=$2 wrk -t1 -c"$connections" -d"${seconds}s" --latency -s "$work/check.lua" "$4" \
    >"$work/wrk"
  after=$(cpu "$3")
  awk -v name="$1" -v note="$5" -v before="$before" -v after="$after" -v ticks="$ticks" '
    / 50%/ { p50 = $2 } / 99%/ { p99 = $2 }
    /requests in/ { n = $1 } /^Requests\/sec/ { rate = $2 }
    /Non-2xx/ { bad = $0 }
    END {
      split(before, b); split(after, a); each = 1e6 / ticks / n
      printf "%-22s %9.0f req/s  p50 %-9s p99 %-9s server CPU %.2f us/request (user %.2f, " \
        "system %.2f) %s %s\n", name, rate, p50, p99, (a[1] + a[2] - b[1] - b[2]) * each,
        (a[1] - b[1]) * each, (a[2] - b[2]) * each, note, bad
    }' "$work/wrk"
}

echo "HTTP check, 1 loop, $connections connections, ${seconds}s each (percentiles are of whole"
echo "pipelines where there are any)"
run "echo, one at a time" 1 "$control" "$control_url" "(control)"
run "one at a time" 1 "$server" "$url" "(budget 7 us)"
run "echo, 16 pipelined" 16 "$control" "$control_url" "(control)"
run "16 pipelined" 16 "$server" "$url" "(budget 1.5 us)"
