#!/usr/bin/env bash
# clients/typescript/test.sh: compiles into a folder of its own and runs the tests. SLUICE is the daemon's binary, TSC the
# compiler. Ends with 77, which ctest takes for skipped, where node or tsc is missing.
set -euo pipefail
cd "$(dirname "$0")"
tsc=${TSC:-tsc}
for program in node "$tsc"; do
  if ! command -v "$program" >/dev/null; then
    echo "clients.typescript: $program is not installed (Debian: nodejs, node-typescript)"
    exit 77
  fi
done
DIST=$(mktemp -d)
trap 'rm -rf "$DIST"' EXIT
export DIST
./build.sh "$DIST"
export NODE_PATH=${NODE_PATH-}:/usr/share/nodejs:/usr/lib/nodejs
node --test test/
