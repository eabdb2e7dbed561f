#!/usr/bin/env bash
# Builds the Debian packages sluice and libsluice-dev into build/deb/, and reads them with lintian.
#
#   packaging/build_deb.sh       from what the checkout holds now, committed or not
#
# The sources are copied to build/deb/source first: dpkg-buildpackage writes beside and into them.
# The copy and its build tree stay, so that a second run compiles only what has changed.
set -euo pipefail
cd "$(dirname "$0")/.."
place=build/deb
mkdir -p "$place/source"

problems=$(tools/check_versions.py) || { echo "deb: $problems" >&2; exit 1; }

# What git knows of or would add; what is gone there goes here.
git ls-files --cached --others --exclude-standard -z |
  while IFS= read -r -d '' file; do [[ ! -e $file ]] || printf '%s\0' "$file"; done >"$place/files"
tar -c --null -T "$place/files" | tar -x -C "$place/source"
(cd "$place/source" && find . -type f -not -path './obj-*' -not -path './debian/*' -printf '%P\0') |
  { grep -zvxFf <(tr '\0' '\n' <"$place/files") || true; } | (cd "$place/source" && xargs -0 -r rm -f)

rm -f "$place"/*.deb "$place"/*.changes "$place"/*.buildinfo
cd "$place/source"
rm -f debian/debhelper-build-stamp  # Ninja knows better what is done.
log=../build.log
if ! dpkg-buildpackage -us -uc -b -nc -j"$(nproc)" >"$log" 2>&1; then
  tail -n 30 "$log" >&2
  echo "deb: the build failed; all of it is in $place/build.log" >&2
  exit 1
fi
cd ..
lintian --allow-root --pedantic --info --tag-display-limit 0 --fail-on error,warning,info,pedantic sluice_*.deb libsluice-dev_*.deb
ls -1 "$PWD"/*.deb
