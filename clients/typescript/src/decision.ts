/** One rule that applied to a request. */
export interface Limit {
  name: string;
  allowed: boolean;
  limit: number | null;
  remaining: number | null;
  resetAt: number | null;
  reason: string | null;
  retryAfterMs: number | null;
  shadow: boolean;
  degraded: boolean;
}

/** One slot of a concurrency rule. */
export interface HoldToken {
  name: string;
  id: string;
}

/** A rule's part of a settlement: what the reservation had charged, and what it is settled at. */
export interface Settled {
  name: string;
  charged: number;
  cost: number;
}

/** The daemon's answer, as in docs/http-api.md. */
export interface Answer {
  allowed: boolean;
  remaining?: number | null;
  reset_at?: number | null;
  retry_after_ms?: number | null;
  wait_ms?: number;
  waited?: boolean;
  limits: Array<{
    name: string; allowed: boolean; limit?: number | null; remaining?: number | null; reset_at?: number | null; reason?: string;
    retry_after_ms?: number | null; shadow?: boolean; degraded?: boolean;
  }>;
  holds?: HoldToken[];
  receipt?: string;
  reservation?: string;
}

// What a service passes on to its own callers.
const PASSED_ON = [
  "x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset", "x-ratelimit-used", "x-ratelimit-resource", "ratelimit",
  "ratelimit-policy", "retry-after",
];

/** Whether a request may pass. */
export class Decision {
  readonly allowed: boolean;
  /** Sluice did not answer, and the fail mode decided. */
  readonly degraded: boolean;
  /** Retry-After and the rate limit fields, to pass on to your own caller; names in lower case. */
  readonly headers: Record<string, string> = {};

  constructor(
    private readonly answer: Answer,
    /** What to answer to your own caller: 200, 429, 403 or 503. */
    readonly status: number,
    headers: Headers | null,
    private readonly unavailable: string | null = null,
    private readonly retryInMs: number | null = null,
  ) {
    this.allowed = answer.allowed === true;
    this.degraded = unavailable !== null;
    for (const name of headers ? PASSED_ON : []) {
      const value = headers?.get(name);
      if (value) this.headers[name] = value;
    }
    if (retryInMs !== null) this.headers["retry-after"] = String(Math.max(1, Math.ceil(retryInMs / 1000)));
  }

  /** Units that would be granted right now; null if nothing limits the request. */
  get remaining(): number | null {
    return this.answer.remaining ?? null;
  }

  /** Unix time in seconds at which the full limit is available again. */
  get resetAt(): number | null {
    return this.answer.reset_at ?? null;
  }

  /** Milliseconds after which it is worth to try again: exact. null if allowed, or if waiting does not help. */
  get retryAfterMs(): number | null {
    if (this.allowed) return null;
    if (this.degraded) return this.retryInMs;
    if (typeof this.answer.retry_after_ms === "number") return this.answer.retry_after_ms;
    const seconds = this.headers["retry-after"];
    return seconds !== undefined && /^[0-9]+$/.test(seconds) ? Number(seconds) * 1000 : null;
  }

  /** Allowed, but only after so many milliseconds (a rule with `shape: true`). Otherwise 0. */
  get waitMs(): number {
    return this.answer.waited ? 0 : this.answer.wait_ms ?? 0;
  }

  /** The rules that applied, in their order. Empty if none did. */
  get limits(): Limit[] {
    return this.answer.limits.map((item) => ({
      name: item.name, allowed: item.allowed, limit: item.limit ?? null, remaining: item.remaining ?? null,
      resetAt: item.reset_at ?? null, reason: item.reason ?? null, retryAfterMs: item.retry_after_ms ?? null,
      shadow: item.shadow ?? false, degraded: item.degraded ?? false,
    }));
  }

  /** The first enforced rule that denied. */
  get deniedBy(): Limit | null {
    return this.limits.find((limit) => !limit.allowed && !limit.shadow) ?? null;
  }

  /** Why it is denied: a reason of docs/http-api.md, or "sluice_unavailable". null if allowed. */
  get reason(): string | null {
    if (this.allowed) return null;
    return this.degraded ? "sluice_unavailable" : this.deniedBy?.reason ?? null;
  }

  get holds(): HoldToken[] {
    return this.answer.holds ?? [];
  }

  get receipt(): string | null {
    return this.answer.receipt ?? null;
  }

  get reservation(): string | null {
    return this.answer.reservation ?? null;
  }

  /** The decision in a sentence, for logs. */
  get why(): string {
    if (this.unavailable !== null) return `${this.allowed ? "allowed" : "denied"} without Sluice: ${this.unavailable}`;
    if (this.allowed) {
      const names = this.limits.map((limit) => limit.name).join(", ");
      return names ? `allowed by ${names}` : "allowed: no rule applies";
    }
    const ms = this.retryAfterMs;
    const when = ms === null ? "waiting does not help" : `again in ${(ms / 1000).toFixed(3)} s`;
    return `denied by ${this.deniedBy?.name ?? "?"}: ${this.reason}; ${when}`;
  }
}
