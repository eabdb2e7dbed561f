#!/usr/bin/env bash
# clients/typescript/test_newest.sh DIR: the tests with what environment.sh put into DIR; then the archive that `npm pack` makes is
# installed into a clean folder and used there, by import, by require, and by the compiler. Ends with 77 if DIR is empty.
set -euo pipefail
if [[ ! -e $1/done.json ]]; then
  echo "clients.typescript_newest: skipped, as clients.typescript_environment was"
  exit 77
fi
here=$(cd "$(dirname "$0")" && pwd)
FRAMEWORKS=$(cd "$1" && pwd)
TSC=$FRAMEWORKS/node_modules/.bin/tsc
export FRAMEWORKS TSC
"$here/test.sh"

place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
cp -r "$here"/{package.json,README.md,build.sh,src,tsconfig.json,tsconfig.cjs.json} "$place"
(cd "$place" && npm pack --silent --pack-destination "$place" >/dev/null)
mkdir "$place/app"
cd "$place/app"
echo '{"private": true}' >package.json
npm install --silent --no-audit --no-fund --offline "$place"/sluice-client-*.tgz
cat >a.mjs <<'JS'
import { advise } from "sluice-client";
import { sluice } from "sluice-client/express";
console.log(advise({ status: 429, fields: [["Retry-After", "3"]] }, { nowMs: 0 }).waitMs[0], typeof sluice);
JS
sed 's/^import \(.*\) from \(".*"\);/const \1 = require(\2);/' a.mjs >a.cjs
for file in a.mjs a.cjs; do
  [[ $(node $file) == "3000 function" ]] || { echo "$file does not work"; exit 1; }
done
cat >a.mts <<'TS'
import { Client, type Decision } from "sluice-client";
import { sluice } from "sluice-client/fastify";
const client = new Client({ fail: "closed" });
const decision: Decision = await client.check({ user_id: "u" }, { cost: 2 });
const hook = sluice({ client, attributes: (request: { method: string; url: string; user: string }) => ({ user_id: request.user }) });
// @ts-expect-error The fail mode is open or closed.
new Client({ fail: "ajar" });
export { decision, hook };
TS
"$TSC" --noEmit --strict --target es2022 --module nodenext --moduleResolution nodenext --lib es2022,dom,dom.iterable a.mts
echo "the archive works by import, by require, and for the compiler"
