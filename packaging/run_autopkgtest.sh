#!/usr/bin/env bash
# Runs the package's own tests (debian/tests) with autopkgtest, on the packages of build/deb/, in a
# Debian 12 that has no network and no ports of this machine. Needs root, mmdebstrap and autopkgtest; the
# network only to make the first root, which is kept as build/deb/test-root.tar.
set -euo pipefail
cd "$(dirname "$0")/.."
place=$PWD/build/deb
for tool in mmdebstrap autopkgtest; do
  command -v $tool >/dev/null || { echo "run_autopkgtest: $tool is missing (tools/setup.sh package)" >&2; exit 1; }
done
[[ $(id -u) -eq 0 ]] || { echo "run_autopkgtest: run it as root: it makes a system and enters it" >&2; exit 1; }

# What the packages and their tests ask for, so that only ours are left to install.
wanted=$({
  for deb in "$place"/sluice_*.deb "$place"/libsluice-dev_*.deb; do dpkg-deb -f "$deb" Depends; done
  sed -n 's/^Depends: //p' debian/tests/control
} | tr ',' '\n' | sed 's/|.*//; s/(.*//; s/ //g' | grep -vxE 'sluice|libsluice-dev' | sort -u | paste -sd,)
packaging/debian_root.sh "$place/test-root.tar" "apt-utils,$wanted"

root=$(mktemp -d /var/tmp/sluice-autopkgtest.XXXXXX)
trap 'rm -rf --one-file-system "$root"' EXIT
tar -C "$root" -xf "$place/test-root.tar"
rm -rf "$root"/etc/apt/sources.list "$root"/etc/apt/sources.list.d/*  # Nothing is to be fetched.
# Mounts, processes and loopback of its own.
# shellcheck disable=SC2016  # The inner shell expands.
unshare --mount --pid --net --fork --kill-child bash -euc '
  root=$1 place=$2
  ip link set lo up
  mount -t proc proc "$root/proc"
  mount --rbind /dev "$root/dev"
  mount -t tmpfs tmpfs "$root/dev/shm"
  autopkgtest --quiet "$place"/sluice_*.deb "$place"/libsluice-dev_*.deb "$place/source/" \
    -- chroot "$root"' bash "$root" "$place" </dev/null
echo "autopkgtest: debian/tests pass"
