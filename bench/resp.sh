#!/usr/bin/env bash
# What a CL.THROTTLE costs, beside Redis on the same machine in the same run: a daemon with one loop
# and a redis-server, both on free ports, each driven by redis-benchmark on the other core, with 1
# and with 64 commands pipelined over 10,000 keys. The figure to hold is the server's CPU time per
# command (/proc/PID/stat): it does not depend on who else uses the machine. Budgets stand in
# docs/benchmarks.md.
#
#   SLUICE=build/bench/bin/sluice bench/resp.sh     COMMANDS=2000000 CONNECTIONS=32
set -euo pipefail
sluice=${SLUICE:-build/bench/bin/sluice}
commands=${COMMANDS:-2000000}
connections=${CONNECTIONS:-32}
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
sluice_pid=
redis_pid=
trap '[[ -z $sluice_pid ]] || kill "$sluice_pid" 2>/dev/null || true
      [[ -z $redis_pid ]] || kill "$redis_pid" 2>/dev/null || true
      rm -rf "$work"' EXIT
ticks=$(getconf CLK_TCK)

cat >"$work/sluice.yaml" <<'YAML'
listeners:
  - {address: 127.0.0.1:0, protocol: resp}
loops: 1
YAML
"$sluice" serve --config "$work/sluice.yaml" >"$work/out" 2>"$work/err" &
sluice_pid=$!
for _ in $(seq 100); do
  grep -q '^Try' "$work/out" && break
  kill -0 "$sluice_pid" 2>/dev/null || { cat "$work/err"; exit 1; }
  sleep 0.05
done
sluice_port=$(sed -n 's/^ *resp .*:\([0-9]*\)$/\1/p' "$work/out")

# Debian's redis-tools holds the server too: its program looks at the name it is called by.
if command -v redis-server >/dev/null; then
  ln -s "$(command -v redis-server)" "$work/redis-server"
else
  ln -s "$(command -v redis-check-rdb)" "$work/redis-server"
fi
redis_port=$(python3 -c 'import socket
s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
"$work/redis-server" --port "$redis_port" --bind 127.0.0.1 --save "" --appendonly no \
  --dir "$work" >"$work/redis.log" 2>&1 &
redis_pid=$!
for _ in $(seq 100); do
  redis-cli -p "$redis_port" ping >/dev/null 2>&1 && break
  kill -0 "$redis_pid" 2>/dev/null || { cat "$work/redis.log"; exit 1; }
  sleep 0.05
done
script=$(redis-cli -p "$redis_port" -x script load <"$here/gcra.lua")

# User and system time of process $1 in clock ticks.
cpu() { awk '{ print $14 + $15 }' "/proc/$1/stat"; }

run() {
  local name=$1 pid=$2 port=$3 depth=$4 count=$5 budget=$6 before after
  shift 6
  local load=(redis-benchmark -p "$port" -c "$connections" -r 10000 -P "$depth" --csv)
  "${load[@]}" -n $((count / 10)) "$@" >/dev/null 2>&1 # Warm.
  before=$(cpu "$pid")
  "${load[@]}" -n "$count" "$@" >"$work/csv" 2>/dev/null
  after=$(cpu "$pid")
  # "test","rps","avg_latency_ms","min","p50","p95","p99","max"
  tail -n 1 "$work/csv" | tr -d '"' | awk -F, -v name="$name" -v depth="$depth" -v budget="$budget" \
    -v cpu=$((after - before)) -v ticks="$ticks" -v n="$count" '{
      printf "%-26s %3d pipelined %9.0f/s  p50 %7s ms  p99 %7s ms  server CPU %5.2f us/command %s\n",
        name, depth, $(NF - 6), $(NF - 3), $(NF - 1), cpu / ticks * 1e6 / n, budget
    }'
}

few=$((commands / 8)) # One at a time takes longer.
throttle=(CL.THROTTLE user:__rand_int__ 15 1000000 60)
gcra=(EVALSHA "$script" 1 user:__rand_int__ 60 16)
echo "RESP, $connections connections, 10,000 keys, $few commands one at a time, $commands pipelined"
run "sluice CL.THROTTLE" "$sluice_pid" "$sluice_port" 1 "$few" "(budget 7)" "${throttle[@]}"
run "sluice PING" "$sluice_pid" "$sluice_port" 1 "$few" "" PING
run "redis-server PING" "$redis_pid" "$redis_port" 1 "$few" "" PING
run "redis-server GCRA, EVALSHA" "$redis_pid" "$redis_port" 1 "$few" "" "${gcra[@]}"
run "sluice CL.THROTTLE" "$sluice_pid" "$sluice_port" 64 "$commands" "(budget 0.4)" "${throttle[@]}"
run "sluice PING" "$sluice_pid" "$sluice_port" 64 "$commands" "" PING
run "redis-server PING" "$redis_pid" "$redis_port" 64 "$commands" "" PING
run "redis-server GCRA, EVALSHA" "$redis_pid" "$redis_port" 64 "$((commands / 4))" "" "${gcra[@]}"
