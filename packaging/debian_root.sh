#!/usr/bin/env bash
# Makes a Debian 12 as an archive, unless one with the same packages is there.
#
#   packaging/debian_root.sh ARCHIVE PACKAGE,PACKAGE...     ARCHIVE ends in .tar
#
# Needs root, mmdebstrap and the network.
set -euo pipefail
archive=$1 packages=$2
[[ ! -s $archive || $(cat "$archive.packages" 2>/dev/null) != "$packages" ]] || exit 0
sources=(/etc/apt/sources.list.d/debian.sources)
[[ -s ${sources[0]} ]] || sources=(/etc/apt/sources.list)
options=()
for file in /etc/apt/apt.conf.d/99*; do [[ -e $file ]] && options+=(--aptopt="$file"); done
echo "debian_root: making $(basename "$archive")"
mmdebstrap --quiet --format=tar --variant=minbase --include="$packages" \
  "${options[@]}" bookworm "$archive.new" "${sources[@]}"
mv "$archive.new" "$archive"
echo "$packages" >"$archive.packages"
