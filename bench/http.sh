#!/usr/bin/env bash
# What an HTTP check costs: a daemon with one loop on a free port, wrk on the other core, one
# JSON body of 40-odd bytes over 10,000 users. The figure to hold is the server's CPU time per
# request (/proc/PID/stat): it does not depend on who else uses the machine. Budgets stand in
# docs/benchmarks.md.
#
#   SLUICE=build/release/bin/sluice bench/http.sh     SECONDS_EACH=5 CONNECTIONS=32
set -euo pipefail
sluice=${SLUICE:-build/release/bin/sluice}
seconds=${SECONDS_EACH:-5}
connections=${CONNECTIONS:-32}
work=$(mktemp -d)
server=
trap '[[ -z $server ]] || kill "$server" 2>/dev/null || true; rm -rf "$work"' EXIT

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
ticks=$(getconf CLK_TCK)

# User and system time of the daemon in clock ticks.
cpu() { awk '{ print $14 + $15 }' "/proc/$server/stat"; }

run() {
  local name=$1 depth=$2 budget=$3 before after
  DEPTH=$depth wrk -t1 -c"$connections" -d1s -s "$work/check.lua" "$url" >/dev/null # Warm.
  before=$(cpu)
  DEPTH=$depth wrk -t1 -c"$connections" -d"${seconds}s" --latency -s "$work/check.lua" "$url" \
    >"$work/wrk"
  after=$(cpu)
  awk -v name="$name" -v budget="$budget" -v cpu=$((after - before)) -v ticks="$ticks" '
    / 50%/ { p50 = $2 } / 99%/ { p99 = $2 }
    /requests in/ { n = $1 } /^Requests\/sec/ { rate = $2 }
    /Non-2xx/ { bad = $0 }
    END {
      printf "%-22s %9.0f req/s  p50 %-9s p99 %-9s server CPU %.2f us/request (budget %s us) %s\n",
        name, rate, p50, p99, cpu / ticks * 1e6 / n, budget, bad
    }' "$work/wrk"
}

echo "HTTP check, 1 loop, $connections connections, ${seconds}s each (percentiles are of whole"
echo "pipelines where there are any)"
run "one at a time" 1 7
run "16 pipelined" 16 1.5
