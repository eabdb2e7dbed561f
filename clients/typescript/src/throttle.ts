// Keeps to the limits that somebody else's server shows.

import { advise, explain, policyOf, waitOf, type Advice, type Policy, type Response429 } from "./advice.js";
import { systemClock, type Clock, type Log } from "./clock.js";
import { Throttled } from "./errors.js";

const MOST_RESOURCES = 4096; // The least recently used are forgotten.

/** A bucket to which nothing is sent now. `why` says what the server said. */
export interface Holding {
  bucket: string;
  ms: number;
  why: string;
}

interface Bucket {
  until: number; // Monotonic: nothing is sent before.
  advice: Advice | null;
  left: number | null; // Units that the last answer showed, less what was sent since.
  reset: number;
  inFlight: number;
}

export interface ThrottleOptions {
  policy?: Partial<Policy>;
  /** What one request may take with all its waits; null for ever. */
  deadlineMs?: number | null;
  /** Waits and their reasons go to its `info`. Nothing is logged without it. */
  log?: Log;
  clock?: Clock;
}

/**
 * What servers said about their limits, by resource; shared by any number of fetches.
 *
 * A resource is a text that is made of a request: host and path, unless you say otherwise. Resources share a bucket once the
 * server names it (X-RateLimit-Resource, X-RateLimit-Bucket), so that search stays open while the core quota is used up.
 * A limit that the server declares for all buckets holds the whole host.
 */
export class Throttle {
  readonly policy: Policy;
  readonly clock: Clock;
  private readonly deadlineMs: number | null;
  private readonly log: Log | undefined;
  private readonly buckets = new Map<string, Bucket>();
  private readonly bucketOf = new Map<string, string>();

  constructor(options: ThrottleOptions = {}) {
    this.policy = policyOf(options.policy);
    this.deadlineMs = options.deadlineMs ?? null;
    this.log = options.log;
    this.clock = options.clock ?? systemClock;
  }

  /** The buckets that are held now, and why. */
  holdings(): Holding[] {
    const now = this.clock.monotonic();
    return [...this.buckets]
      .filter(([, bucket]) => bucket.until > now && bucket.advice)
      .map(([name, bucket]) => ({ bucket: name, ms: bucket.until - now, why: explain(bucket.advice!) }));
  }

  /** A request is about to be sent, with its own deadline or none. */
  start(host: string, resource: string, deadlineMs?: number): Attempts {
    const limits = [this.deadlineMs, deadlineMs ?? null].filter((ms): ms is number => ms !== null);
    const end = limits.length ? this.clock.monotonic() + Math.min(...limits) : null;
    return new Attempts(this, host, resource, end);
  }

  /** @internal Milliseconds to wait before the request may be sent and why, or the bucket that counts it. */
  enter(host: string, resource: string): { ms: number; advice: Advice | null; bucket: Bucket | null } {
    const now = this.clock.monotonic();
    const bucket = this.bucket(this.bucketOf.get(resource) ?? resource);
    for (const held of [this.buckets.get(host), bucket]) {
      if (held && held.until > now) return { ms: held.until - now, advice: held.advice, bucket: null };
    }
    if (bucket.left !== null && now >= bucket.reset) bucket.left = null; // A new window: the next answer says how much it holds.
    if (bucket.left !== null) {
      if (bucket.left <= this.policy.headroom) {
        // The answers of requests in flight come before the reset, and say more.
        const untilReset = bucket.reset - now;
        return { ms: bucket.inFlight ? Math.min(untilReset, 50) : untilReset, advice: bucket.advice, bucket: null };
      }
      bucket.left--;
    }
    bucket.inFlight++;
    return { ms: 0, advice: null, bucket };
  }

  /** @internal */
  leave(bucket: Bucket, host: string, resource: string, advice: Advice | null): void {
    bucket.inFlight--;
    if (!advice) return;
    const now = this.clock.monotonic();
    if (advice.bucket !== null) {
      const name = `${host} ${advice.bucket}`;
      this.bucketOf.delete(resource);
      this.bucketOf.set(resource, name);
      if (this.bucketOf.size > MOST_RESOURCES) this.bucketOf.delete(this.bucketOf.keys().next().value!);
      bucket = this.bucket(name);
    }
    if (advice.holdMs) {
      const held = advice.everywhere ? this.bucket(host) : bucket;
      if (now + advice.holdMs > held.until) {
        held.until = now + advice.holdMs;
        held.advice = advice;
      }
    }
    if (advice.left) {
      bucket.left = advice.left.remaining - bucket.inFlight;
      bucket.reset = now + advice.left.resetMs;
      bucket.advice = advice;
    }
  }

  /** @internal */
  say(message: string): void {
    this.log?.info(message);
  }

  private bucket(name: string): Bucket {
    let bucket = this.buckets.get(name);
    if (bucket) {
      this.buckets.delete(name); // To the end: the most recently used.
    } else {
      bucket = { until: 0, advice: null, left: null, reset: 0, inFlight: 0 };
      for (const [old, { inFlight }] of this.buckets) {
        if (this.buckets.size < MOST_RESOURCES) break;
        if (!inFlight) this.buckets.delete(old);
      }
    }
    this.buckets.set(name, bucket);
    return bucket;
  }
}

/** One request, from before it is first sent until its last response. */
export class Attempts {
  attempt = 0;
  private bucket: Bucket | null = null;

  /** @internal */
  constructor(
    private readonly throttle: Throttle,
    private readonly host: string,
    private readonly resource: string,
    private readonly end: number | null,
  ) {}

  /** Milliseconds to wait and then call again; 0: send the request now. Throws Throttled if that is too long. */
  before(): number {
    const { policy, clock } = this.throttle;
    const { ms, advice, bucket } = this.throttle.enter(this.host, this.resource);
    this.bucket = bucket;
    if (ms === 0) {
      this.attempt++;
      return 0;
    }
    const left = this.left();
    if (ms > policy.capMs) throw new Throttled(this.resource, ms, advice!, `cap of ${policy.capMs / 1000} s`);
    if (left !== null && ms >= left) throw new Throttled(this.resource, ms, advice!, "deadline");
    this.throttle.say(`${this.resource} is held for ${(ms / 1000).toFixed(3)} s: ${explain(advice!)}`);
    return Math.min(ms * (1 + (policy.jitterPercent / 100) * clock.random()), left ?? Infinity);
  }

  after(response: Response429, method: string, idempotencyKey: boolean): Advice {
    const { policy, clock } = this.throttle;
    const advice = advise(response, {
      nowMs: clock.wall(), policy, method, idempotencyKey, attempt: this.attempt, deadlineMs: this.left(),
    });
    const bucket = this.bucket!;
    this.bucket = null;
    this.throttle.leave(bucket, this.host, this.resource, advice);
    if (advice.action !== "proceed") {
      this.throttle.say(`${this.resource} answered ${response.status}, attempt ${this.attempt}: ${explain(advice)}`);
    }
    return advice;
  }

  /** The request was sent and got no response. No effect after after(). */
  failed(): void {
    if (this.bucket) this.throttle.leave(this.bucket, this.host, this.resource, null);
    this.bucket = null;
  }

  private left(): number | null {
    return this.end === null ? null : this.end - this.throttle.clock.monotonic();
  }
}

export interface ThrottledInit extends RequestInit {
  /** What this request may take with all its waits. */
  deadlineMs?: number;
}

export type ThrottledFetch = (input: RequestInfo | URL, init?: ThrottledInit) => Promise<Response>;

/** The resource of a request, unless you say otherwise: its host and path, without the query. */
export const hostAndPath = (url: URL): string => url.host + url.pathname;

/** For servers with one quota for everything. */
export const host = (url: URL): string => url.host;

const advices = new WeakMap<Response, Advice>();

/** The advice that was followed last for a response of a throttled fetch. */
export function adviceOf(response: Response): Advice | undefined {
  return advices.get(response);
}

/**
 * A fetch that waits before it sends where a quota is used up, and after a 429 as long as the server says.
 *
 * Rejects with Throttled, without sending, if a wait would be above the policy's capMs or beyond the deadline. `signal` ends a
 * wait, too. A body that is a stream is not sent again.
 */
export function throttledFetch(
  options: { throttle?: Throttle; fetch?: typeof globalThis.fetch; resource?: (url: URL) => string } = {},
): ThrottledFetch {
  const { throttle = new Throttle(), fetch = globalThis.fetch, resource = hostAndPath } = options;
  const { clock } = throttle;
  return async (input, init = {}) => {
    const { deadlineMs, ...rest } = init;
    const request = input instanceof Request ? input : null;
    const url = new URL(request ? request.url : String(input));
    const method = rest.method ?? request?.method ?? "GET";
    const key = new Headers(rest.headers ?? request?.headers).has("idempotency-key");
    const stream = rest.body instanceof ReadableStream || (!rest.body && !!request?.body);
    const signal = rest.signal ?? request?.signal ?? null;
    const attempts = throttle.start(url.host, resource(url), deadlineMs);
    for (;;) {
      const ms = attempts.before();
      if (ms) {
        await clock.sleep(ms, signal);
        continue;
      }
      let response: Response;
      let advice: Advice;
      try {
        response = await fetch(input, rest);
        const body = response.status === 403 || response.status === 429 ? await response.clone().text() : null;
        advice = attempts.after({ status: response.status, fields: response.headers, body }, method, key);
      } finally {
        attempts.failed();
      }
      advices.set(response, advice);
      if (advice.action !== "wait" || stream) return response;
      await response.body?.cancel();
      await clock.sleep(waitOf(advice, clock.random()), signal);
    }
  };
}
