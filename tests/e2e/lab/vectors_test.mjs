// Plays the golden vectors to the lab's WebAssembly: node vectors_test.mjs VECTORS CORE_WASM...
//
// The lab has arrivals, each of which says how long it takes. So cases with other verbs than check, peek and release,
// stepping clocks, civil periods or reserves are left out. (docs/lab/package.json tells Node that core.js is a module.)
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";

import { ALGORITHMS, NEVER, REASONS, loadCore } from "../../../docs/lab/core.js";

const FEWEST = 4; // Cases of each algorithm, so that this test cannot pass by leaving out all.
const FOREVER = 2n ** 62n;

/** A line, with its numbers as BigInt. */
function parse(line) {
  const quoted = line.replace(/(?<=[:[,])-?\d+(?=[,\]}])/g, '"#$&"');
  return JSON.parse(quoted, (name, value) => (/^#-?\d+$/.test(value) ? BigInt(value.slice(1)) : value));
}

function* casesOf(path) {
  let lines = [];
  for (const line of readFileSync(path, "utf8").trim().split("\n")) {
    if (line.startsWith('{"case"') && lines.length > 0) {
      yield lines;
      lines = [];
    }
    lines.push(parse(line));
  }
  yield lines;
}

function isForTheLab([head, ...steps]) {
  return head.clocks === undefined && !head.quota.calendar && !head.quota.reserve &&
    steps.every((step, i) => step.check !== undefined || step.peek !== undefined ||
      // In the lab, a slot is free from the instant of its release on, whatever else happens at that instant.
      (step.release !== undefined && step.found && step.at > steps[i - 1].at));
}

/** How long the checks of a case are held: by the line of the check, until the release that names it. */
function heldBy(steps) {
  const checks = steps.filter((step) => step.check !== undefined);
  return new Map(steps.filter((step) => step.release !== undefined)
    .map((step) => [checks[Number(step.release)], step.at - checks[Number(step.release)].at]));
}

function expected(step) {
  const retry = { never: NEVER, unknown: NEVER - 1n }[step.retry_after] ?? step.retry_after ?? 0n;
  return {
    allowed: step.allowed, reason: REASONS.indexOf(step.reason ?? ""), remaining: step.remaining ?? NEVER,
    retryAfter: retry, resetAfter: step.reset_after ?? 0n, wait: step.wait ?? 0n,
  };
}

function play(core, algorithm, [head, ...steps]) {
  const key = core.key({
    algorithm, limit: head.quota.limit, rate: head.quota.rate, window: head.quota.window_ns,
    segments: Number(head.quota.segments ?? 8), strict: head.quota.strict, shape: head.quota.shape,
    unlimited: head.quota.unlimited,
  });
  const held = heldBy(steps);
  for (const [index, step] of steps.entries()) {
    if (step.release !== undefined) {
      continue;
    }
    const at = head.start + step.at;
    const { limit, ...got } =
      step.check === undefined ? key.peek(at, step.peek) : key.check(at, step.check, held.get(step) ?? FOREVER);
    assert.deepEqual(got, expected(step), `${algorithm}: ${head.case}, line ${index + 1}`);
  }
}

const [vectors, ...files] = process.argv.slice(2);
for (const file of files) {
  const core = await loadCore(readFileSync(file));
  for (const algorithm of ALGORITHMS) {
    let played = 0;
    for (const lines of casesOf(join(vectors, `${algorithm}.jsonl`))) {
      if (isForTheLab(lines)) {
        play(core, algorithm, lines);
        core.clear();
        ++played;
      }
    }
    assert.ok(played >= FEWEST, `${algorithm}: only ${played} cases`);
    console.log(`${file}: ${algorithm}: ${played} cases`);
  }
}
