import { advise, policyOf, waitOf, type Policy } from "./advice.js";
import { Breaker } from "./breaker.js";
import { systemClock, type Clock, type Log } from "./clock.js";
import { Decision, type Answer, type HoldToken, type Settled } from "./decision.js";
import { CallError, Denied, SluiceError, Unavailable } from "./errors.js";
import { httpDateMs } from "./fields.js";
import { Hold, Reservation } from "./held.js";

export type Value = string | number | boolean | null | undefined;
export type Attributes = Record<string, Value>;
export type FailMode = "open" | "closed";

export interface ClientOptions {
  /** Of a check listener. http://127.0.0.1:8080 by default. */
  url?: string;
  /** The listener's bearer token, if it has `auth`. */
  token?: string;
  /** What a call may take at most, retries included. 100 by default. */
  timeoutMs?: number;
  /**
   * How often a call is sent again that failed on the way; 1 by default. With retries, a check carries an idempotency key, so it
   * is charged once; the daemon keeps its answer for that. 0 sends no key.
   */
  retries?: number;
  /** What check() decides when Sluice does not answer: "open", the default, allows; "closed" denies. */
  fail?: FailMode;
  /** When to stop asking a daemon that does not answer. */
  breaker?: Breaker;
  /** How acquire() waits. */
  policy?: Partial<Policy>;
  /** Instead of the global one, for instance with an agent of your own. */
  fetch?: typeof globalThis.fetch;
  log?: Log;
  clock?: Clock;
}

export interface CheckOptions {
  /** Units, 0 to 999999999999999. 1 by default. */
  cost?: number;
  /** Charge nothing. */
  peek?: boolean;
  /** Let the daemon hold the answer back until a shaped request may go; give it a timeoutMs that is long enough. */
  wait?: boolean;
  /** The decision has a text for settle(). */
  reserve?: boolean;
  /** The decision has a text for refund(). */
  receipt?: boolean;
  /** Of your caller's request, so that its retries are charged once. */
  idempotencyKey?: string;
  timeoutMs?: number;
}

export interface Check {
  attributes: Attributes;
  cost?: number;
  peek?: boolean;
}

interface Reply {
  status: number;
  headers: Headers;
  text: string;
}

// Without a decision in it: a proxy's, or that of a daemon which shuts down.
const NOT_OURS = new Set([408, 429, 502, 503, 504]);

/** Asks a Sluice daemon over HTTP, by fetch. Make one for a process, and share it. */
export class Client {
  readonly clock: Clock;
  private readonly base: string;
  private readonly headers: Record<string, string>;
  private readonly timeoutMs: number;
  private readonly retries: number;
  private readonly fail: FailMode;
  private readonly breaker: Breaker;
  private readonly policy: Policy;
  private readonly fetch: typeof globalThis.fetch;
  private readonly log: Log;
  private refusedAt = -Infinity;

  constructor(options: ClientOptions = {}) {
    const url = new URL(options.url ?? "http://127.0.0.1:8080");
    if (!/^https?:$/.test(url.protocol) || url.search || url.hash) throw new TypeError(`url: expected http://HOST:PORT, got ${url}`);
    this.base = url.href.replace(/\/$/, "") + "/v1/ratelimit/";
    this.headers = options.token === undefined ? {} : { authorization: `Bearer ${options.token}` };
    this.timeoutMs = options.timeoutMs ?? 100;
    this.retries = options.retries ?? 1;
    this.fail = options.fail ?? "open";
    if (!(this.timeoutMs > 0 && this.retries >= 0 && /^(open|closed)$/.test(this.fail))) {
      throw new RangeError('timeoutMs is above 0, retries are not negative, and fail is "open" or "closed"');
    }
    this.clock = options.clock ?? systemClock;
    this.log = options.log ?? console;
    this.breaker = options.breaker ?? new Breaker(3, 1000, this.clock, this.log);
    this.policy = policyOf(options.policy);
    this.fetch = options.fetch ?? ((input, init) => globalThis.fetch(input, init));
  }

  /**
   * Whether a request with these attributes may pass now, and if so charges its cost. Does not wait.
   * Ends within timeoutMs. If Sluice does not answer, the fail mode decides. Rejects with CallError if the call is wrong.
   */
  async check(attributes: Attributes, options: CheckOptions = {}): Promise<Decision> {
    const { cost = 1, peek, wait, reserve, receipt, timeoutMs } = options;
    const key = options.idempotencyKey ?? (this.retries > 0 && !peek ? newKey() : undefined);
    const body = JSON.stringify({ attributes, cost, peek, wait, reserve, receipt });
    try {
      return this.decisionOf(await this.post("check", body, timeoutMs, key));
    } catch (error) {
      if (error instanceof Unavailable) return this.withoutSluice(error);
      throw error;
    }
  }

  /**
   * Up to 1,000 checks in one call, each judged on its own; the decisions are in the same order. A batch carries no idempotency
   * key, so it is not sent again. Rejects with CallError if one of the checks is wrong; the others were charged.
   */
  async checkMany(checks: Check[], options: { timeoutMs?: number } = {}): Promise<Decision[]> {
    if (checks.length === 0) return [];
    const body = JSON.stringify(checks.map(({ attributes, cost = 1, peek }) => ({ attributes, cost, peek })));
    try {
      const answers = this.json(await this.post("batch", body, options.timeoutMs, undefined, false));
      if (!Array.isArray(answers) || answers.length !== checks.length) {
        throw new Unavailable("the answer to a batch has another length than the batch");
      }
      return answers.map((answer: Answer & { status: number }) => {
        if (!("allowed" in answer)) throw errorOf(answer["status"] ?? 400, answer);
        return new Decision(answer, answer.status, null);
      });
    } catch (error) {
      if (!(error instanceof Unavailable)) throw error;
      const decision = this.withoutSluice(error);
      return checks.map(() => decision);
    }
  }

  /**
   * Waits until a request may pass, as long as the daemon says and the client's policy allows. If the wait would not fit into
   * deadlineMs, rejects with Denied at once.
   */
  async acquire(
    attributes: Attributes,
    options: CheckOptions & { deadlineMs?: number; signal?: AbortSignal } = {},
  ): Promise<Decision> {
    const { deadlineMs, signal, ...check } = options;
    const end = deadlineMs === undefined ? null : this.clock.monotonic() + deadlineMs;
    for (let attempt = 1; ; attempt++) {
      const decision = await this.check(attributes, check);
      if (decision.allowed) return decision;
      const advice = advise(
        { status: decision.status, fields: Object.entries(decision.headers), body: decision.degraded ? null : bodyOf(decision) },
        {
          nowMs: this.clock.wall(), policy: this.policy, method: "POST", idempotencyKey: true, attempt,
          deadlineMs: end === null ? null : end - this.clock.monotonic(),
        },
      );
      if (advice.action !== "wait") throw new Denied(decision);
      await this.clock.sleep(waitOf(advice, this.clock.random()), signal ?? null);
    }
  }

  /** Charges an estimate. Call settle() on it with the actual cost. Rejects with Denied if it may not pass. */
  async reserve(attributes: Attributes, cost: number, options: CheckOptions = {}): Promise<Reservation> {
    const decision = await this.check(attributes, { ...options, cost, reserve: true });
    if (!decision.allowed) throw new Denied(decision);
    return new Reservation(this, decision);
  }

  /** Takes slots of concurrency rules and renews them. Call release() on them. Rejects with Denied if none is free. */
  async hold(attributes: Attributes, options: CheckOptions & { renewEveryMs?: number } = {}): Promise<Hold> {
    const { renewEveryMs, ...check } = options;
    const decision = await this.check(attributes, check);
    if (!decision.allowed) throw new Denied(decision);
    return new Hold(this, decision, renewEveryMs ?? this.renewalInterval(decision));
  }

  /** Takes slots, runs the work, and releases them. */
  async withHold<T>(
    attributes: Attributes, work: (hold: Hold) => Promise<T> | T, options: CheckOptions & { renewEveryMs?: number } = {},
  ): Promise<T> {
    const hold = await this.hold(attributes, options);
    try {
      return await work(hold);
    } finally {
      await hold.release();
    }
  }

  /** What a check would answer now. Charges nothing. Rejects with Unavailable. */
  async status(attributes: Attributes, options: { cost?: number; timeoutMs?: number } = {}): Promise<Decision> {
    const query = new URLSearchParams();
    for (const [name, value] of Object.entries(attributes)) {
      if (value !== null && value !== undefined) query.append(name, String(value));
    }
    query.append("cost", String(options.cost ?? 1));
    return this.decisionOf(await this.send(`status?${query}`, { headers: this.headers }, options.timeoutMs, true));
  }

  /**
   * Charges the actual cost of a reservation; further members are attributes that rules use as their cost. Only the first
   * settlement counts, so it is safe to repeat. Rejects with Unavailable.
   */
  async settle(reservation: string, cost: number | Record<string, number>, timeoutMs?: number): Promise<Settled[]> {
    const costs = typeof cost === "number" ? { cost } : cost;
    const answer = this.json(await this.post("settle", JSON.stringify({ ...costs, reservation }), timeoutMs));
    return (answer as { settled: Settled[] }).settled;
  }

  /** Gives a charge back: units by rule. Works once, so it is safe to repeat. Rejects with Unavailable. */
  async refund(receipt: string, timeoutMs?: number): Promise<Record<string, number>> {
    const answer = this.json(await this.post("refund", JSON.stringify({ receipt }), timeoutMs));
    return Object.fromEntries((answer as { refunded: Array<{ name: string; units: number }> }).refunded.map((r) => [r.name, r.units]));
  }

  /** Frees slots: the number that were still held. Safe to repeat. Rejects with Unavailable. */
  async release(holds: HoldToken[], timeoutMs?: number): Promise<number> {
    const answer = this.json(await this.post("release", JSON.stringify({ holds }), timeoutMs));
    return (answer as { released: number }).released;
  }

  /** Extends holds to the rule's hold_ttl from now. Rejects with CallError, code "no_such_hold", if one is gone. */
  async renew(holds: HoldToken[], timeoutMs?: number): Promise<number> {
    const answer = this.json(await this.post("renew", JSON.stringify({ holds }), timeoutMs));
    return (answer as { renewed: number }).renewed;
  }

  /** Of a middleware: a wrong call must not break its service. It is logged once a minute, and the fail mode decides. */
  async decide(attributes: Attributes, cost = 1): Promise<Decision> {
    try {
      return await this.check(attributes, { cost });
    } catch (error) {
      if (!(error instanceof CallError)) throw error;
      const now = this.clock.monotonic();
      if (now - this.refusedAt >= 60_000) {
        this.refusedAt = now;
        this.log.error(`${error.message}; the fail mode decides until this is mended`);
      }
      return this.withoutSluice(error);
    }
  }

  /** Of a middleware: if the daemon does not answer, the slots are freed by the rule's hold_ttl. */
  async releaseQuietly(decision: Decision): Promise<void> {
    if (decision.holds.length === 0) return;
    try {
      await this.release(decision.holds);
    } catch (error) {
      if (!(error instanceof SluiceError)) throw error;
    }
  }

  private withoutSluice(error: Error): Decision {
    const allowed = this.fail === "open";
    const retryInMs = allowed ? null : Math.max(this.breaker.retryInMs(), 1000);
    return new Decision({ allowed, limits: [] }, allowed ? 200 : 503, null, error.message, retryInMs);
  }

  // A third of the time that the holds have left. The answer says when all slots of the key are free again, in whole
  // seconds, and a hold just granted is the last to expire.
  private renewalInterval(decision: Decision): number {
    const now = serverTimes.get(decision) ?? this.clock.wall();
    const names = new Set(decision.holds.map((hold) => hold.name));
    const resets = decision.limits.filter((limit) => names.has(limit.name) && limit.resetAt !== null).map((limit) => limit.resetAt! * 1000);
    const left = resets.length ? Math.min(...resets) - now - 1000 : 30_000;
    return Math.max(100, left / 3);
  }

  private decisionOf(reply: Reply): Decision {
    const answer = parse(reply.text);
    if (typeof answer !== "object" || answer === null || !("allowed" in answer)) throw errorOf(reply.status, answer);
    const decision = new Decision(answer as Answer, reply.status, reply.headers);
    const date = httpDateMs(reply.headers.get("date") ?? "", this.clock.wall());
    if (date !== undefined && decision.holds.length) serverTimes.set(decision, date);
    if (!decision.allowed) bodies.set(decision, reply.text);
    return decision;
  }

  private json(reply: Reply): unknown {
    const answer = parse(reply.text);
    if (reply.status !== 200) throw errorOf(reply.status, answer);
    if (answer === undefined) throw new Unavailable("the response has no JSON");
    return answer;
  }

  private post(verb: string, body: string, timeoutMs?: number, key?: string, repeatable = true): Promise<Reply> {
    const headers: Record<string, string> = { ...this.headers, "content-type": "application/json" };
    if (key !== undefined) headers["idempotency-key"] = key;
    return this.send(verb, { method: "POST", headers, body }, timeoutMs, repeatable);
  }

  private async send(path: string, init: RequestInit, timeoutMs = this.timeoutMs, repeatable: boolean): Promise<Reply> {
    if (!this.breaker.allows()) throw new Unavailable("Sluice did not answer lately");
    const end = performance.now() + timeoutMs;
    const attempts = 1 + (repeatable ? this.retries : 0);
    for (let attempt = 0; ; attempt++) {
      // Each attempt has its part of the time, so that a lost packet leaves time for another.
      const abort = new AbortController();
      const timer = setTimeout(() => abort.abort(), Math.max(1, (end - performance.now()) / (attempts - attempt)));
      try {
        const response = await this.fetch(this.base + path, { ...init, signal: abort.signal });
        const reply = { status: response.status, headers: response.headers, text: await response.text() };
        if (NOT_OURS.has(reply.status) && !reply.text.includes('"allowed"')) {
          this.breaker.onFailure(new Unavailable(`status ${reply.status}`));
        } else {
          this.breaker.onSuccess();
        }
        return reply;
      } catch (error) {
        if (attempt + 1 < attempts && performance.now() < end) continue;
        const failure = new Unavailable(abort.signal.aborted ? "timed out" : causeOf(error));
        this.breaker.onFailure(failure);
        throw failure;
      } finally {
        clearTimeout(timer);
      }
    }
  }
}

/** 128 random bits: Node 18 and insecure web pages have no crypto.randomUUID(). */
function newKey(): string {
  const hex = () => Math.floor(Math.random() * 2 ** 32).toString(16).padStart(8, "0");
  return globalThis.crypto?.randomUUID?.() ?? hex() + hex() + hex() + hex();
}

const serverTimes = new WeakMap<Decision, number>();
const bodies = new WeakMap<Decision, string>();

function bodyOf(decision: Decision): string | null {
  return bodies.get(decision) ?? null;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** fetch says "fetch failed", and why in the cause. */
function causeOf(error: unknown): string {
  const cause = error instanceof Error && "cause" in error ? (error as { cause?: unknown }).cause : undefined;
  return cause instanceof Error && cause.message ? cause.message : String(error instanceof Error ? error.message : error);
}

function errorOf(status: number, answer: unknown): SluiceError {
  const problem = (typeof answer === "object" && answer !== null ? answer : {}) as { code?: string; detail?: string };
  const detail = problem.detail ?? "no detail";
  if (NOT_OURS.has(status) || status === 500 || status === 200) return new Unavailable(`status ${status}: ${detail}`);
  return new CallError(status, problem.code ?? null, detail);
}
