#!/usr/bin/env bash
# Holds the lab's WebAssembly to the golden vectors: the file in docs/lab, and where there is a compiler for it, what
# the sources of today give.
set -euo pipefail
root=$(cd "$(dirname "$0")/../../.." && pwd)
if ! command -v node >/dev/null; then
  echo "skipped: no node here"
  exit 77
fi
files=("$root/docs/lab/core.wasm")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
if "$root/tools/lab.sh" "$folder/core.wasm"; then
  files+=("$folder/core.wasm")
elif [[ $? -ne 77 ]]; then
  exit 1
fi
node "$root/tests/e2e/lab/vectors_test.mjs" "$root/tests/vectors" "${files[@]}"
