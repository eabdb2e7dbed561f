// Plays clients/vectors: what to do with a response.
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import test from "node:test";

import { load } from "./support.mjs";

const { advise, explain, waitOf } = await load("advice");

const folder = new URL("../../vectors/", import.meta.url);

test("every case of the vectors", () => {
  let count = 0;
  for (const file of readdirSync(folder).filter((name) => name.endsWith(".json"))) {
    for (const { name, why, response, call, expect } of JSON.parse(readFileSync(new URL(file, folder), "utf8")).cases) {
      const advice = advise(response, {
        nowMs: call.now_ms, method: call.method, idempotencyKey: call.idempotency_key, attempt: call.attempt,
        deadlineMs: call.deadline_ms,
        policy: { maxAttempts: call.max_attempts, capMs: call.cap_ms, baseMs: call.base_ms, jitterPercent: call.jitter_percent,
                  headroom: call.headroom },
      });
      const { action, reason, source, waitMs, holdMs, bucket, everywhere } = advice;
      assert.deepEqual({ action, reason, source, wait_ms: waitMs, hold_ms: holdMs, bucket, global: everywhere }, expect,
                       `${file}: ${name}: ${why}`);
      if (waitMs) assert.deepEqual([waitOf(advice, 0), waitOf(advice, 1)], waitMs);
      assert.ok(explain(advice));
      count++;
    }
  }
  assert.ok(count >= 200, `${count} cases`);
});
