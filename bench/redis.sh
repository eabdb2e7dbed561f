#!/usr/bin/env bash
# What a check costs with Redis as the store: a redis-server on a free port, asked by one loop of a
# node (bench/redis_load.cc) with 1, 16 and 64 checks in flight, by algorithm, and for a rule with a
# ban; then sync: exact beside sync: lease (bench/lease_load.cc); then the bare script of one check by
# redis-benchmark, and what a naive client does instead, a GET and a SET. Last, the memory that a key
# takes. CPU times are those to trust: /proc/PID/stat of the server, getrusage of the node.
#
#   SLUICE=build/bench/bin/sluice bench/redis.sh     SECONDS_EACH=3 KEYS=100000 CALLS=100000
set -euo pipefail
bin=$(dirname "${SLUICE:-build/bench/bin/sluice}")
seconds=${SECONDS_EACH:-3}
keys=${KEYS:-100000}
calls=${CALLS:-100000}
work=$(mktemp -d)
redis_pid=
trap '[[ -z $redis_pid ]] || kill "$redis_pid" 2>/dev/null || true; rm -rf "$work"' EXIT
ticks=$(getconf CLK_TCK)

port=$(python3 -c 'import socket
s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
redis-server --port "$port" --bind 127.0.0.1 --save "" --appendonly no --dir "$work" \
  >"$work/redis.log" 2>&1 &
redis_pid=$!
for _ in $(seq 100); do
  redis-cli -p "$port" ping >/dev/null 2>&1 && break
  kill -0 "$redis_pid" 2>/dev/null || { cat "$work/redis.log"; exit 1; }
  sleep 0.05
done

echo "one loop, $keys keys, $seconds s each; CPU per check"
"$bin/redis_load" "127.0.0.1:$port" "$redis_pid" "$seconds" "$keys"
echo "two tiers: batches of 32 checks, 1,000 keys, a million a minute each"
"$bin/lease_load" "127.0.0.1:$port" "$redis_pid" "$seconds" 1000

cpu() { awk '{ print $14 + $15 }' "/proc/$redis_pid/stat"; }

# $1: name, $2: in flight, then the command.
run() {
  local name=$1 depth=$2 before after count=$calls
  shift 2
  before=$(cpu)
  redis-benchmark -p "$port" -c 1 -P "$depth" -r "$keys" -n "$count" --csv "$@" 2>/dev/null >"$work/csv"
  after=$(cpu)
  tail -n 1 "$work/csv" | tr -d '"' | awk -F, -v name="$name" -v depth="$depth" \
    -v cpu=$((after - before)) -v ticks="$ticks" -v n="$count" '{
      printf "%-24s %3d in flight %8.0f/s                 redis %5.2f us  p50 %5.0f us  p99 %5.0f us\n",
        name, depth, $(NF - 6), cpu / ticks * 1e6 / n, $(NF - 3) * 1000, $(NF - 1) * 1000
    }'
}
echo "redis-benchmark on one connection"
script=$("$bin/redis_load" --script bucket | redis-cli -p "$port" -x script load)
for depth in 1 16 64; do
  run "bare script" $depth EVALSHA "$script" 1 "bare:__rand_int__" "" 0 1 200 60000000 1000 0
  run "naive: GET" $depth GET "naive:__rand_int__"
  run "naive: and SET" $depth SET "naive:__rand_int__" "1700000000000000" PX 60000
done

# Quotas of an hour, so that no key is fresh again, and gone, before it is counted.
echo "memory of a key, with a user id of 20 characters"
for algorithm in bucket fixed_window sliding_window_counter sliding_window sliding_window_log \
  concurrency; do
  redis-cli -p "$port" flushall >/dev/null
  before=$(redis-cli -p "$port" info memory | tr -d '\r' | sed -n 's/^used_memory://p')
  script=$("$bin/redis_load" --script $algorithm | redis-cli -p "$port" -x script load)
  redis-benchmark -p "$port" -c 1 -P 64 -r 1000000 -n "$calls" -q EVALSHA "$script" 1 \
    "sl1:{3f9a0c12}:api_rate:gcra,60000:user_id=u_000000__rand_int__" "" 0 1 200 3600000000 8 0 \
    >/dev/null 2>&1
  after=$(redis-cli -p "$port" info memory | tr -d '\r' | sed -n 's/^used_memory://p')
  count=$(redis-cli -p "$port" dbsize)
  echo "  $algorithm: $(((after - before) / count)) bytes ($count keys)"
done
