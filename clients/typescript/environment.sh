#!/usr/bin/env bash
# clients/typescript/environment.sh DIR: the newest frameworks and compiler, as frameworks/package-lock.json lists them, in DIR. Does
# nothing if they are there already. Ends with 77, which ctest takes for skipped, where there is no npm or no registry.
set -euo pipefail
dir=$1
lists=$(cd "$(dirname "$0")" && pwd)/frameworks
cmp -s "$lists/package-lock.json" "$dir/done.json" && exit 0
skip() {
  echo "clients.typescript_newest: $1"
  exit 77
}
command -v npm >/dev/null || skip "npm is not installed"
rm -rf "$dir"
mkdir -p "$dir"
cp "$lists"/package*.json "$dir"
(cd "$dir" && timeout 600 npm ci --ignore-scripts --no-audit --no-fund >log 2>&1) ||
  skip "the registry does not have what frameworks/package-lock.json lists: $(tail -n 1 "$dir/log")"
cp "$lists/package-lock.json" "$dir/done.json"
