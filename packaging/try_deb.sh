#!/usr/bin/env bash
# Tries the packages of build/deb/ in a Debian 12 that has systemd and nothing else of ours: install,
# a check under the hardened unit, a changed rule, an upgrade with a changed conffile, a reboot,
# removal, return, purge. Needs root, mmdebstrap and systemd-nspawn; the network only to make the
# first root, which is kept as build/deb/root.tar.
#
#   packaging/try_deb.sh [--keep]     --keep: leaves the root behind, to look into
set -euo pipefail
cd "$(dirname "$0")/.."
keep=
[[ ${1-} == --keep ]] && keep=yes
place=$PWD/build/deb
deb=$(ls "$place"/sluice_*.deb)
for tool in mmdebstrap systemd-nspawn; do
  command -v $tool >/dev/null || { echo "try_deb: $tool is missing (tools/setup.sh package)" >&2; exit 1; }
done
[[ $(id -u) -eq 0 ]] || { echo "try_deb: run it as root: it makes and boots a system" >&2; exit 1; }

# The libraries that the package asks for are put into the root beforehand, so that dpkg alone
# installs ours, without a network.
wanted=$(dpkg-deb -f "$deb" Depends | tr ',' '\n' | sed 's/|.*//; s/(.*//; s/ //g' | sort | paste -sd,)
packaging/debian_root.sh "$place/root.tar" "systemd-sysv,dbus,curl,$wanted"
root=$(mktemp -d /var/tmp/sluice-try.XXXXXX)
finish() {
  if [[ -n $keep ]]; then echo "try_deb: kept $root" >&2; else rm -rf --one-file-system "$root"; fi
}
trap finish EXIT
tar -C "$root" -xf "$place/root.tar"

# The next version: the same program, with another conffile.
next=$(mktemp -d)
dpkg-deb -R "$deb" "$next"
sed -i 's/^Version: .*/&+next/' "$next/DEBIAN/control"
echo '# A line of the next version.' >>"$next/etc/sluice/sluice.yaml"
(cd "$next" && find . -type f -not -path './DEBIAN/*' -printf '%P\0' | xargs -0 md5sum >DEBIAN/md5sums)
dpkg-deb --root-owner-group -b "$next" "$root/root/next.deb" >/dev/null
rm -rf "$next"
cp "$deb" "$root/root/first.deb"
install -m 755 packaging/try_deb_inside.sh "$root/root/try"
cat >"$root/etc/systemd/system/try.service" <<'UNIT'
[Unit]
After=multi-user.target
[Service]
Type=oneshot
ExecStart=/bin/sh -c '/root/try >>/root/log 2>&1; echo $? >/root/result; sync; systemctl poweroff'
[Install]
WantedBy=multi-user.target
UNIT
ln -s ../try.service "$root/etc/systemd/system/multi-user.target.wants/try.service" 2>/dev/null ||
  { mkdir -p "$root/etc/systemd/system/multi-user.target.wants" &&
    ln -s ../try.service "$root/etc/systemd/system/multi-user.target.wants/try.service"; }

for boot in 1 2; do
  rm -f "$root/root/result"
  timeout 300 systemd-nspawn --quiet --directory "$root" --boot --private-network --register=no \
    --keep-unit </dev/null >"$place/boot.log" 2>&1 || true
  if [[ $(cat "$root/root/result" 2>/dev/null) != 0 ]]; then
    cat "$root/root/log" 2>/dev/null || tail -n 40 "$place/boot.log"
    echo "try_deb: failed in boot $boot" >&2
    exit 1
  fi
done
cat "$root/root/log"
