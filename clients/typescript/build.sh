#!/usr/bin/env bash
# clients/typescript/build.sh [DIR]: compiles src/ into DIR (dist/ beside this file), for import and for require. TSC names the
# compiler.
set -euo pipefail
cd "$(dirname "$0")"
out=${1:-dist}
tsc=${TSC:-tsc}
"$tsc" -p . --outDir "$out/esm"
"$tsc" -p tsconfig.cjs.json --outDir "$out/cjs"
echo '{"type": "module"}' >"$out/esm/package.json"
echo '{"type": "commonjs"}' >"$out/cjs/package.json"
