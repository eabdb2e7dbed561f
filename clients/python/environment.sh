#!/usr/bin/env bash
# clients/python/environment.sh DIR: a Python environment in DIR with the packages of requirements.txt: the newest
# frameworks, and what no Debian package has (slowapi). Does nothing if it is there already. Ends with 77, which ctest takes
# for skipped, where the Python registry is not reached.
set -euo pipefail
dir=$1
versions=$(cd "$(dirname "$0")" && pwd)/requirements.txt
cmp -s "$versions" "$dir/versions.txt" && exit 0
skip() {
  echo "clients.python: $1"
  exit 77
}
rm -rf "$dir"
python3 -m venv "$dir" 2>/dev/null || skip "python3 -m venv fails: install python3-venv"
timeout 600 "$dir/bin/python" -m pip install --quiet --disable-pip-version-check \
  --only-binary=:all: -r "$versions" 2>"$dir/log" ||
  skip "the registry does not have what requirements.txt lists: $(tail -n 1 "$dir/log")"
cp "$versions" "$dir/versions.txt"
