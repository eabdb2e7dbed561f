#!/usr/bin/env bash
# Builds an OCI image without an engine: the Debian package's program and the libraries that it
# loads, and no shell, no package manager, nothing else.
#
#   packaging/build_image.sh       needs build/deb/sluice_*.deb (make deb), umoci, Debian 12's apt
#
# Leaves build/image/oci, a layout for skopeo and its like, and build/image/sluice-VERSION-ARCH.tar
# for `docker load` and `podman load`.
set -euo pipefail
cd "$(dirname "$0")/.."
for tool in umoci skopeo; do
  command -v $tool >/dev/null || { echo "image: $tool is missing (tools/setup.sh package)" >&2; exit 1; }
done
deb=$(ls build/deb/sluice_*.deb)
version=$(dpkg-deb -f "$deb" Version)
arch=$(dpkg-deb -f "$deb" Architecture)
place=build/image
rm -rf "$place/root" "$place/oci" "$place"/*.tar
mkdir -p "$place/debs" "$place/root"

# The package's libraries, and theirs. What a library asks for beside libraries (debconf) is for
# installing it, which nobody does here.
needs() {
  tr ',' '\n' <<<"$1" | sed 's/|.*//; s/(.*//; s/:any//; s/ //g' | grep -E '^(lib|zlib|tzdata|gcc-.*-base)' || true
}
mapfile -t queue < <(needs "$(dpkg-deb -f "$deb" Depends)")
declare -A packages=([ca-certificates]=1) seen=()
while [[ ${#queue[@]} -gt 0 ]]; do
  package=${queue[0]} queue=("${queue[@]:1}")
  [[ -z ${seen[$package]-} ]] || continue
  seen[$package]=1
  apt-cache show --no-all-versions "$package" >"$place/about" 2>/dev/null || true
  if [[ ! -s $place/about ]]; then
    # A name that another package provides.
    package=$(apt-cache showpkg "$package" | sed '1,/^Reverse Provides/d' | awk 'NR == 1 { print $1 }')
    apt-cache show --no-all-versions "$package" >"$place/about"
  fi
  packages[$package]=1
  depends=$(sed -n 's/^\(Pre-\)\?Depends: //p' "$place/about" | paste -sd,)
  mapfile -t -O "${#queue[@]}" queue < <(needs "$depends")
done
rm -f "$place"/debs/*.deb
(cd "$place/debs" && apt-get download -q "${!packages[@]}") >"$place/download.log" 2>&1 || true
[[ $(find "$place/debs" -name '*.deb' | wc -l) -eq ${#packages[@]} ]] ||
  { echo "image: apt-get could not download all of ${!packages[*]}" >&2; exit 1; }

root=$place/root
mkdir -p "$root"/usr/{bin,lib,lib64,sbin} "$root"/etc/{ssl/certs,sluice/rules.d} "$root/var/lib/sluice" "$root"/{dev,proc,sys}
install -d -m 1777 "$root/tmp"
for folder in bin lib lib64 sbin; do ln -s usr/$folder "$root/$folder"; done
for file in "$place"/debs/*.deb "$deb"; do
  dpkg-deb --fsys-tarfile "$file" | tar -x -C "$root" --keep-directory-symlink
done
# Licences stay, as they ask for.
find "$root/usr/share/doc" -type f -not -name 'copyright' -not -name 'NOTICE*' -delete
rm -rf "$root"/usr/share/{man,locale,lintian,bash-completion,fish,zsh} "$root"/{usr/lib,lib}/{systemd,sysusers.d,tmpfiles.d}
find "$root" -type f -path '*/ca-certificates/mozilla/*.crt' -print0 | sort -z | xargs -0 cat >"$root/etc/ssl/certs/ca-certificates.crt"
rm -rf "$root"/usr/share/ca-certificates "$root"/usr/sbin/update-ca-certificates
find "$root" -type d -empty -path '*/usr/share/*' -delete
install -m 644 packaging/image/sluice.yaml "$root/etc/sluice/sluice.yaml"
printf 'root:x:0:0:root:/:/nologin\nsluice:x:65532:65532:Sluice:/var/lib/sluice:/nologin\n' >"$root/etc/passwd"
printf 'root:x:0:\nsluice:x:65532:\n' >"$root/etc/group"

# The same bytes for the same packages.
epoch=$(dpkg-parsechangelog -S Timestamp)
tar -C "$root" --sort=name --numeric-owner --owner=0 --group=0 --mtime="@$epoch" \
  --exclude=./var/lib/sluice -cf "$place/layer.tar" .
(cd "$root" && tar --numeric-owner --owner=65532 --group=65532 --mode=0700 --mtime="@$epoch" \
  -rf ../layer.tar ./var/lib/sluice)

image=$place/oci:$version
umoci init --layout "$place/oci"
umoci new --image "$image"
created=$(date -u -d "@$epoch" +%Y-%m-%dT%H:%M:%SZ)
umoci raw add-layer --image "$image" --history.created "$created" "$place/layer.tar"
umoci config --image "$image" --history.created "$created" --architecture "$arch" --os linux --created "$created" \
  --config.user 65532:65532 --config.workingdir / --config.stopsignal SIGTERM \
  --config.entrypoint /usr/bin/sluice --config.cmd serve --config.cmd --config \
  --config.cmd /etc/sluice/sluice.yaml --config.env PATH=/usr/bin \
  --config.env SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt --config.volume /var/lib/sluice \
  --config.exposedports 8080/tcp --config.exposedports 8081/tcp --config.exposedports 9090/tcp \
  --config.label org.opencontainers.image.title=sluice \
  --config.label "org.opencontainers.image.version=$version"
packaging/image/add_health_check.py "$place/oci" "$version"
umoci gc --layout "$place/oci"
skopeo copy --quiet "oci:$image" "oci-archive:$place/sluice-$version-$arch.tar:sluice:$version"
rm -rf "$place/root" "$place/layer.tar"
echo "image: $(du -m "$place/sluice-$version-$arch.tar" | cut -f1) MiB in $PWD/$place/sluice-$version-$arch.tar"
