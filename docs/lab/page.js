// The lab as a page of its own: it decides with the core in WebAssembly.
import { NEVER, REASONS, loadCore } from "./core.js";
import { mountLab } from "./lab.js";

const MS = 1_000_000n;
const START = 1_699_999_980_000n * MS; // At the edge of a minute.

const core = await loadCore(fetch("core.wasm"));

function inMs(nanoseconds) {
  return nanoseconds >= NEVER - 1n ? null : Number(nanoseconds) / 1e6;
}

mountLab(document.getElementById("lab"), async (quotas, events) => {
  core.clear();
  return quotas.map((quota) => {
    const key = core.key({
      ...quota, limit: BigInt(quota.limit), rate: BigInt(quota.rate), window: BigInt(quota.window_ms) * MS,
    });
    return events.map(({ at, cost, held, peek }) => {
      const now = START + BigInt(at) * MS;
      const decision = peek ? key.peek(now, BigInt(cost)) : key.check(now, BigInt(cost), BigInt(held) * MS);
      return {
        allowed: decision.allowed, reason: REASONS[decision.reason], remaining: Number(decision.remaining),
        retry_after_ms: inMs(decision.retryAfter), wait_ms: inMs(decision.wait),
      };
    });
  });
});
