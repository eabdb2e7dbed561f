#!/usr/bin/env bash
# Installs the Debian packages that are missing for what you want to do.
#
#   tools/setup.sh GROUP...     groups of tools/packages.txt: run, test, bench, lint, fuzz,
#                               readme, bare, arm64, package
#
# Says nothing when nothing is missing. Needs root or sudo only when something is.
set -euo pipefail
cd "$(dirname "$0")/.."

packages_of() {  # The lines under [$1], without comments.
  awk -v group="[$1]" '/^\[/ { on = ($0 == group); next } on && NF && !/^#/' tools/packages.txt
}

if ! command -v dpkg-query >/dev/null; then
  echo "setup: this is no Debian system, so nothing was installed. Sluice needs what these" >&2
  echo "       Debian 12 packages hold: $(packages_of "$1" | tr '\n' ' ')" >&2
  exit 0  # The libraries may well be there; CMake says which one is not.
fi

wanted=()
for group in "$@"; do
  mapfile -t -O "${#wanted[@]}" wanted < <(packages_of "$group")
done
missing=()
for package in "${wanted[@]}"; do
  status=$(dpkg-query -W -f '${Status}' "$package" 2>/dev/null || true)
  [[ $status == "install ok installed" ]] || missing+=("$package")
done
[[ ${#missing[@]} -eq 0 ]] && exit 0

root=()
if [[ $(id -u) -ne 0 ]]; then
  if ! command -v sudo >/dev/null; then
    echo "setup: missing packages, and neither root nor sudo to install them. As root, run:" >&2
    echo "       apt-get update && apt-get install --no-install-recommends ${missing[*]}" >&2
    exit 1
  fi
  root=(sudo)
fi

count=$(printf '%s\n' "${missing[@]}" | sort -u | wc -l)
echo "setup: $count Debian packages are missing: ${missing[*]}"
log=$(mktemp)
policy=/usr/sbin/policy-rc.d  # What Debian asks before a package starts its service.
silenced=
finish() {
  rm -f "$log"
  [[ -z $silenced ]] || "${root[@]}" rm -f "$policy"
}
trap finish EXIT
# Tests start servers of their own: those of the packages stay off, now and after the next boot.
# A host that has a policy of its own keeps it.
silence() {
  [[ ! -e $policy ]] || return 0
  silenced=yes
  printf '#!/bin/sh\nexit 101\n' | "${root[@]}" tee "$policy" >/dev/null
  "${root[@]}" chmod 755 "$policy"
}
disable_services() {
  [[ -d /run/systemd/system ]] || return 0
  local service
  for service in nginx-light:nginx caddy:caddy redis-server:redis-server etcd-server:etcd; do
    if [[ " ${missing[*]} " == *" ${service%:*} "* ]]; then
      "${root[@]}" systemctl disable "${service#*:}"
    fi
  done
}
get=("${root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q --no-install-recommends)
download_size() {  # "111 MB", as apt-get names it.
  "${get[@]}" install --assume-no "${missing[@]}" 2>/dev/null |
    sed -n 's/^Need to get \([0-9.,]* [kMG]*B\).*/\1/p'
}
install() {
  echo "setup: reading Debian's package lists" >&3
  "${root[@]}" apt-get update -q || return
  echo "setup: downloading $(download_size) and installing: a minute or two" >&3
  silence && "${get[@]}" install -y "${missing[@]}" && disable_services
}
if ! install 3>&1 >"$log" 2>&1; then
  tail -n 20 "$log" >&2
  echo "setup: apt-get could not install: ${missing[*]}" >&2
  echo "       Sluice is built on Debian 12 (bookworm); the packages are listed in tools/packages.txt." >&2
  exit 1
fi
echo "setup: packages installed"
