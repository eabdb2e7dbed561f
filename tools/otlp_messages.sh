#!/usr/bin/env bash
# tools/otlp_messages.sh DIR: puts the published messages of OpenTelemetry's protocol, for Python, into
# an environment in DIR, with the versions below. Does nothing if they are there already. Ends with
# 77, which ctest takes for skipped, where the Python registry is not reached.
set -euo pipefail
dir=$1
versions="opentelemetry-proto==1.45.2"
[[ "$(cat "$dir/versions.txt" 2>/dev/null)" == "$versions" ]] && exit 0
skip() {
  echo "otlp: $1"
  exit 77
}
rm -rf "$dir"
python3 -m venv "$dir" 2>/dev/null || skip "python3 -m venv fails: install python3-venv"
timeout 300 "$dir/bin/python" -m pip install --quiet --disable-pip-version-check \
  --only-binary=:all: "$versions" 2>"$dir/log" ||
  skip "the registry does not have $versions: $(tail -n 1 "$dir/log")"
echo "$versions" >"$dir/versions.txt"
