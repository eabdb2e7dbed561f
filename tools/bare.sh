#!/usr/bin/env bash
# Runs a command as on a new machine: in a Debian 12 that has nothing but git, make and
# certificates, over a clone of what is committed here.
#
#   tools/bare.sh [--keep] COMMAND     --keep leaves the root folder and says where it is
#
# Needs root, for mounts and chroot, and mmdebstrap. The base system is made once (45 s) and kept in
# BARE_DIR (/var/tmp). Ends with 77 where this machine cannot do it, and says why.
set -euo pipefail
cd "$(dirname "$0")/.."
dir=${BARE_DIR:-/var/tmp}
keep=
if [[ ${1-} == --keep ]]; then
  keep=yes
  shift
fi
[[ $# -eq 1 ]] || { echo "usage: tools/bare.sh [--keep] COMMAND" >&2; exit 2; }

cannot() {
  echo "bare: no bare Debian 12 here: $1" >&2
  exit 77
}
[[ $(uname -s) == Linux ]] || cannot "this is $(uname -s)"
[[ $(id -u) -eq 0 ]] || cannot "it takes root"
unshare --mount --pid --fork true 2>/dev/null || cannot "this machine allows no new namespaces"
command -v mmdebstrap >/dev/null || cannot "mmdebstrap is missing (tools/setup.sh bare)"

settings=(/etc/apt/apt.conf.d/99*)  # A proxy of this machine, for instance.
[[ -e ${settings[0]} ]] || settings=()
base=$dir/sluice-bare-bookworm.tar
if [[ ! -s $base ]]; then
  echo "bare: making the base system, once"
  sources=/etc/apt/sources.list.d/debian.sources
  [[ -s $sources ]] || sources=/etc/apt/sources.list
  mmdebstrap --quiet --format=tar --variant=minbase --include=ca-certificates,git,make \
    "${settings[@]/#/--aptopt=}" bookworm "$base.new" "$sources" ||
    { rm -f "$base.new"; cannot "mmdebstrap failed"; }
  mv "$base.new" "$base"
fi

root=$(mktemp -d "$dir/sluice-bare.XXXXXX")
finish() {
  if [[ -n $keep ]]; then echo "bare: kept $root" >&2; else rm -rf --one-file-system "$root"; fi
}
trap finish EXIT
tar -C "$root" -xf "$base"
# How this machine reaches its package servers.
for file in /etc/resolv.conf /etc/hosts /etc/pip.conf /etc/ssl/certs/ca-certificates.crt \
            "${settings[@]}"; do
  [[ ! -e $file ]] || install -D -m 644 "$(realpath "$file")" "$root$file"
done
git clone -q --no-hardlinks . "$root/src"

# Mounts of its own, gone with it; process numbers of its own, so that nothing is left running.
# shellcheck disable=SC2016  # The inner shell expands.
unshare --mount --pid --fork --kill-child bash -euc '
  root=$1
  mount -t proc proc "$root/proc"
  mount --rbind /sys "$root/sys"
  mount --rbind /dev "$root/dev"
  mount -t tmpfs tmpfs "$root/dev/shm"
  exec env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root \
    LANG=C.UTF-8 PIP_CERT=/etc/ssl/certs/ca-certificates.crt CI="${CI-}" \
    chroot "$root" bash -c "cd /src && $2"
' bash "$root" "$1" </dev/null
