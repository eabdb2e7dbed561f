// The algorithms of Sluice in a page: its very core (src/core/), compiled to WebAssembly by tools/lab.sh.
//
// Times are nanoseconds since 1970 and units whole numbers, both as BigInt.

export const ALGORITHMS = [
  "fixed_window", "sliding_window_log", "sliding_window_counter", "sliding_window",
  "token_bucket", "gcra", "leaky_bucket", "concurrency",
];
export const REASONS = ["", "quota_exceeded", "cost_exceeds_capacity", "limit_zero", "in_flight", "reserved"];
export const NEVER = 2n ** 63n - 1n;

/** Instantiates the core. `source`: a Response, or a promise of one, or the bytes. */
export async function loadCore(source) {
  const given = await source;
  const bytes = given instanceof Response ? await given.arrayBuffer() : given;
  const { instance } = await WebAssembly.instantiate(bytes, {});
  instance.exports._initialize?.();
  return new Core(instance.exports);
}

class Core {
  #exports;

  constructor(exports) {
    this.#exports = exports;
  }

  /**
   * A fresh key. `quota`: {algorithm, limit, rate, window, segments, strict, shape, unlimited}; `limit` is the burst
   * of a bucket, and `window` in nanoseconds (of concurrency: how long a hold lasts at most).
   */
  key(quota) {
    const flags = (quota.strict ? 1 : 0) | (quota.shape ? 2 : 0) | (quota.unlimited ? 4 : 0);
    const number = this.#exports.lab_new(
      ALGORITHMS.indexOf(quota.algorithm), quota.limit ?? 0n, quota.rate ?? 0n, quota.window ?? 1_000_000n,
      quota.segments ?? 8, flags);
    if (number < 0) {
      throw new RangeError(`there is no algorithm ${quota.algorithm}`);
    }
    return {
      /** One arrival; `held`: how long it takes, which only concurrency asks. `at` never decreases. */
      check: (at, cost, held = 0n) => {
        this.#exports.lab_check(number, at, cost, held);
        return this.#answer();
      },
      /** What such an arrival would get, and what is left. Charges nothing. */
      peek: (at, cost) => {
        this.#exports.lab_peek(number, at, cost);
        return this.#answer();
      },
    };
  }

  /** Forgets all keys. */
  clear() {
    this.#exports.lab_clear();
  }

  #answer() {
    const [allowed, reason, limit, remaining, retryAfter, resetAfter, wait] =
      new BigInt64Array(this.#exports.memory.buffer, this.#exports.lab_answer(), 8);
    return { allowed: allowed === 1n, reason: Number(reason), limit, remaining, retryAfter, resetAfter, wait };
  }
}
