// A store for express-rate-limit: all processes share one count, and the daemon's rule decides.
//
//   app.use(rateLimit({ limit: 100, windowMs: 60_000, store: new SluiceStore({ client }) }));

import type { Attributes, Client } from "./client.js";
import { Unavailable } from "./errors.js";

/** What express-rate-limit reads. */
export interface ClientRateLimitInfo {
  totalHits: number;
  resetTime: Date | undefined;
}

const MOST_RECEIPTS = 10_000;

/**
 * The rule's limit and window are the daemon's: give the middleware the same `limit` and `windowMs`, which it shows in its
 * fields. A hit that the rule denies counts as one above the middleware's limit.
 *
 * attributes: makes the attributes of a check from the middleware's key; {key} unless you say otherwise. If Sluice does not answer,
 * a call rejects with Unavailable, and express-rate-limit's `passOnStoreError` decides.
 */
export class SluiceStore {
  readonly localKeys = false;
  private limit: unknown = 0;
  private readonly receipts = new Map<string, string[]>();

  constructor(private readonly options: { client: Client; attributes?: (key: string) => Attributes; prefix?: string }) {}

  get prefix(): string {
    return this.options.prefix ?? "";
  }

  init(options: { limit?: unknown; max?: unknown }): void {
    this.limit = options.limit ?? options.max ?? 0;
  }

  async increment(key: string): Promise<ClientRateLimitInfo> {
    const decision = await this.options.client.check(this.attributesOf(key), { receipt: true });
    if (decision.degraded) throw new Unavailable(decision.why);
    if (decision.receipt !== null) this.remember(key, decision.receipt);
    return this.infoOf(decision.allowed, decision);
  }

  async get(key: string): Promise<ClientRateLimitInfo | undefined> {
    const decision = await this.options.client.status(this.attributesOf(key), { cost: 0 });
    return this.infoOf(true, decision);
  }

  /** Gives the key's last hit back: `skipSuccessfulRequests`, `skipFailedRequests`. */
  async decrement(key: string): Promise<void> {
    const receipt = this.receipts.get(key)?.pop();
    if (receipt !== undefined) await this.options.client.refund(receipt);
  }

  async resetKey(key: string): Promise<void> {
    throw new Error(`keys are reset on the daemon's admin listener: sluice reset key=${this.prefix}${key}`);
  }

  private attributesOf(key: string): Attributes {
    return this.options.attributes?.(key) ?? { key: this.prefix + key };
  }

  private infoOf(allowed: boolean, decision: { limits: Array<{ limit: number | null }>; remaining: number | null; resetAt: number | null }) {
    const rule = decision.limits[0]?.limit ?? 0;
    const used = Math.max(0, rule - (decision.remaining ?? rule));
    const above = Math.max(rule, typeof this.limit === "number" ? this.limit : rule) + 1;
    const resetTime = decision.resetAt === null ? undefined : new Date(decision.resetAt * 1000);
    return { totalHits: allowed ? used : above, resetTime };
  }

  private remember(key: string, receipt: string): void {
    const receipts = this.receipts.get(key) ?? [];
    this.receipts.delete(key);
    if (this.receipts.size >= MOST_RECEIPTS) this.receipts.delete(this.receipts.keys().next().value!);
    receipts.push(receipt);
    if (receipts.length > 64) receipts.shift();
    this.receipts.set(key, receipts);
  }
}
