#!/usr/bin/env bash
# What packaging/try_deb.sh runs as root in a booted system, once in each of two boots.
set -euo pipefail

say() { echo "-- $*"; }
fail() { echo "FAILED: $*"; systemctl status sluice --no-pager --lines 40 || true; exit 1; }
expect() {  # WHAT GOT WANTED
  [[ $2 == "$3" ]] || fail "$1: $2, not $3"
  say "$1: $2"
}
ask() {
  curl -s -o /dev/null -w '%{http_code}' -H 'Content-Type: application/json' \
    -d "{\"user_id\": \"$1\", \"endpoint\": \"/example\"}" http://127.0.0.1:8080/v1/ratelimit/check
}
until_status() {  # USER STATUS: what takes a moment, with an end.
  for _ in $(seq 100); do
    [[ $(ask "$1") == "$2" ]] && return
    sleep 0.1
  done
  fail "a check never answered $2"
}
ready() {
  for _ in $(seq 300); do
    sluice health --quiet 2>/dev/null && return
    sleep 0.1
  done
  fail "not ready"
}
rules=/etc/sluice/rules.d/example.yaml

if [[ ! -e /root/rebooted ]]; then
  say "install"
  dpkg -i /root/first.deb
  ready
  expect "state of the unit" "$(systemctl is-active sluice)" active
  expect "starts at boot" "$(systemctl is-enabled sluice)" enabled
  pid=$(systemctl show -p MainPID --value sluice)
  expect "user" "$(stat -c %U "/proc/$pid")" sluice
  expect "capabilities" "$(awk '/^CapEff/ { print $2 }' "/proc/$pid/status")" 0000000000000000
  expect "system calls are filtered" "$(awk '/^Seccomp:/ { print $2 }' "/proc/$pid/status")" 2
  expect "privileges are kept from growing" "$(awk '/^NoNewPrivs/ { print $2 }' "/proc/$pid/status")" 1
  systemd-analyze security --no-pager --threshold=20 sluice | tail -n 1
  expect "table" "$(stat -c '%U %a' /dev/shm/sluice/table)" "sluice 600"
  expect "state folder" "$(stat -c '%U %a' /var/lib/sluice)" "sluice 700"
  expect "first check" "$(ask u)" 200
  ask u >/dev/null; ask u >/dev/null
  expect "fourth check" "$(ask u)" 429
  expect "a rule over the API is kept" "$(curl -s -o /dev/null -w '%{http_code}' -X PUT \
    -H 'Content-Type: application/json' -d '{"key_pattern": "k:{k}", "algorithm": "gcra", "rate": 5, "window": "1m"}' \
    http://127.0.0.1:6070/v1/ratelimit/config/of_the_api)" 200
  expect "it lies in" "$(ls /var/lib/sluice/rules)" of_the_api.json

  say "a changed rule is in force without a restart"
  sed -i 's/limit: 3/limit: 4/' $rules
  until_status u 200
  expect "the fourth passed, the fifth" "$(ask u)" 429
  expect "the same process" "$(systemctl show -p MainPID --value sluice)" "$pid"
  systemctl reload sluice || fail "systemctl reload"
  expect "after a reload" "$(systemctl is-active sluice)" active

  say "upgrade: a conffile that both sides changed stays ours, and nothing is forgotten"
  echo '# A line of the operator.' >>/etc/sluice/sluice.yaml
  DEBIAN_FRONTEND=noninteractive dpkg --force-confdef --force-confold -i /root/next.deb
  ready
  expect "another process" "$([[ $(systemctl show -p MainPID --value sluice) != "$pid" ]] && echo yes)" yes
  expect "own conffile" "$(grep -c 'of the operator' /etc/sluice/sluice.yaml)" 1
  expect "theirs beside it" "$(grep -c 'of the next version' /etc/sluice/sluice.yaml.dpkg-dist)" 1
  expect "own rule" "$(grep -c 'limit: 4' $rules)" 1
  expect "spent before, denied now" "$(ask u)" 429
  expect "another key" "$(ask v)" 200
  touch /root/rebooted
  exit
fi

say "reboot: the memory is gone, the snapshot is not"
ready
expect "spent before, denied now" "$(ask u)" 429

say "remove: what operators wrote and keys used stays"
dpkg -r sluice
expect "state of the unit" "$(systemctl is-active sluice || true)" inactive
expect "program" "$([[ -e /usr/bin/sluice ]] || echo gone)" gone
expect "conffile" "$(grep -c 'limit: 4' $rules)" 1
expect "snapshot" "$(find /var/lib/sluice -name "*.snapshot" | wc -l)" 1

say "return"
dpkg -i --force-confold /root/next.deb
ready
expect "spent before, denied now" "$(ask u)" 429
expect "rule of the API" "$(curl -s -o /dev/null -w '%{http_code}' http://127.0.0.1:6070/v1/ratelimit/config/of_the_api)" 200

say "purge: nothing stays but the user"
dpkg -P sluice
for place in /etc/sluice /var/lib/sluice /dev/shm/sluice /run/sluice /lib/systemd/system/sluice.service; do
  [[ ! -e $place ]] || fail "$place is still there: $(ls -A $place)"
done
say "all of it as it should be"
