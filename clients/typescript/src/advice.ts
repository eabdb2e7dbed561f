// What to do with a response of a server that limits rates: a pure function, the same in every client.
// The rules, and the vectors that hold this file to them, are in clients/vectors.

import { MOST_MS, decimalMs, fieldsOf, httpDateMs, quotasOf, type Fields, type Quota } from "./fields.js";

const DAY_MS = 24 * 3600 * 1000;
const GITHUB_SECONDARY_MS = 60_000;
const IDEMPOTENT = new Set(["GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE"]);

/** What a caller allows. */
export interface Policy {
  /** How often a request is sent at most, the first time included. 4 by default. */
  maxAttempts: number;
  /** The longest single wait in milliseconds; a server that asks for more is given up on. 60,000 by default. */
  capMs: number;
  /** The first back-off, where the server says no time. It doubles with each attempt, up to capMs. 500 by default. */
  baseMs: number;
  /** By how many per cent a wait may be extended at random. A wait is never shortened. 20 by default. */
  jitterPercent: number;
  /** Units of each quota that are left to other users of it. 0 by default. */
  headroom: number;
}

export function policyOf(given: Partial<Policy> = {}): Policy {
  const policy = { maxAttempts: 4, capMs: 60_000, baseMs: 500, jitterPercent: 20, headroom: 0, ...given };
  if (!(policy.maxAttempts >= 1 && policy.capMs >= 0 && policy.baseMs > 0 && policy.jitterPercent >= 0 && policy.headroom >= 0)) {
    throw new RangeError("policy: maxAttempts is at least 1, baseMs above 0, and the rest not negative");
  }
  return policy;
}

export type Reason = "ok" | "used_up" | "server" | "backoff" | "never" | "attempts" | "unsafe" | "cap" | "deadline";

export interface Advice {
  /** proceed: no limit refused the request. wait: send it again. give_up: hand the response to the caller. */
  action: "proceed" | "wait" | "give_up";
  reason: Reason;
  /** What the time was read from, such as "retry-after"; null if no time was read. */
  source: string | null;
  /** For wait: the earliest and the latest time to send the request again. */
  waitMs: [number, number] | null;
  /** How long other requests to the same bucket must not be sent. */
  holdMs: number;
  /** The name that the server gives to the bucket. */
  bucket: string | null;
  /** holdMs counts for the whole host. */
  everywhere: boolean;
  /** Of the quota with the least units: those units, and the time until its reset. */
  left: Quota | null;
}

export interface Response429 {
  status: number;
  fields: Iterable<readonly [string, string]>;
  /** Needed only of 403, 429 and 503 (GitHub's secondary limit, OpenAI's insufficient_quota, answers of Sluice). */
  body?: string | null;
}

export interface Call {
  /** The wall clock in Unix milliseconds, used where the response has no Date. */
  nowMs: number;
  policy?: Partial<Policy>;
  method?: string;
  idempotencyKey?: boolean;
  /** 1 for the first. */
  attempt?: number;
  /** What the caller has left; null for ever. */
  deadlineMs?: number | null;
}

function jsonObject(body: string | null | undefined): Record<string, unknown> {
  if (!body || !/^\s*\{/.test(body)) return {};
  try {
    return JSON.parse(body) as Record<string, unknown>;
  } catch {
    return {};
  }
}

function statedMs(fields: Fields, answer: Record<string, unknown>, serverNowMs: number, nowMs: number): [number, string | null] {
  const exact = answer["retry_after_ms"];
  if (typeof exact === "number" && exact > 0) return [Math.min(exact, MOST_MS), "retry_after_ms"];
  const milliseconds = decimalMs(fields.get("retry-after-ms") ?? "", 1);
  if (milliseconds) return [milliseconds, "retry-after-ms"];
  const text = fields.get("retry-after") ?? "";
  const seconds = decimalMs(text);
  if (seconds) return [seconds, "retry-after"];
  if (seconds === undefined) {
    const at = httpDateMs(text, nowMs);
    if (at !== undefined && at > serverNowMs) return [at - serverNowMs, "retry-after"];
  }
  return [0, null];
}

function resetMs(quotas: Quota[], headroom: number): number {
  return quotas.reduce((most, quota) => (quota.remaining <= headroom ? Math.max(most, quota.resetMs) : most), 0);
}

/** What to do with a response. Never throws for what the response holds. */
export function advise(response: Response429, call: Call): Advice {
  const { status } = response;
  const { nowMs, method = "GET", idempotencyKey = false, attempt = 1, deadlineMs = null } = call;
  const policy = policyOf(call.policy);
  const fields = fieldsOf(response.fields);
  const serverNowMs = httpDateMs(fields.get("date") ?? "", nowMs) ?? nowMs;
  const object = status === 403 || status === 429 || status === 503 ? jsonObject(response.body) : {};
  const sluice = object["allowed"] === false && Array.isArray(object["limits"]);
  let [stated, source] = statedMs(fields, sluice ? object : {}, serverNowMs, nowMs);
  const message = object["message"];
  const secondary =
    (status === 403 || status === 429) && typeof message === "string" && message.toLowerCase().includes("secondary rate limit");

  let refused = status === 429 || status === 529 || ((status === 403 || status === 503) && stated > 0) || secondary || sluice;
  const { family, quotas } = quotasOf(fields, refused, serverNowMs, nowMs);
  if (status === 403 && family === "x-ratelimit" && quotas[0]!.remaining === 0 && quotas[0]!.resetMs) refused = true;
  const bucket = fields.get("x-ratelimit-bucket") ?? fields.get("x-ratelimit-resource") ?? null;
  const everywhere =
    refused && (secondary || fields.get("x-ratelimit-global") === "true" || fields.get("x-ratelimit-scope") === "global");
  let left: Quota | null = null;
  for (const quota of quotas) {
    if (quota.resetMs && (left === null || quota.remaining < left.remaining)) left = quota;
  }
  if (left) left = { remaining: left.remaining, resetMs: Math.min(left.resetMs, DAY_MS) };

  const base: Advice = {
    action: "proceed", reason: "ok", source: null, waitMs: null, holdMs: 0, bucket, everywhere: false, left,
  };
  if (!refused) {
    const holdMs = Math.min(resetMs(quotas, policy.headroom), DAY_MS);
    return holdMs ? { ...base, reason: "used_up", source: family, holdMs } : base;
  }
  const error = object["error"] as { code?: unknown } | null | undefined;
  if (
    fields.get("x-should-retry") === "false" ||
    (typeof error === "object" && error?.code === "insufficient_quota") ||
    (sluice && !stated)
  ) {
    return { ...base, action: "give_up", reason: "never" };
  }

  if (!stated) {
    stated = Math.min(resetMs(quotas, 0), MOST_MS);
    source = family;
  }
  if (!stated) {
    const floor = secondary ? GITHUB_SECONDARY_MS : 0;
    stated = Math.min(Math.max(policy.baseMs, floor) * 2 ** (attempt - 1), Math.max(policy.capMs, floor));
    source = "backoff";
  }
  const refusal: Advice = { ...base, action: "give_up", source, holdMs: Math.min(stated, DAY_MS), everywhere };
  if (attempt >= policy.maxAttempts) return { ...refusal, reason: "attempts" };
  if (status === 503 && !IDEMPOTENT.has(method.toUpperCase()) && !idempotencyKey) return { ...refusal, reason: "unsafe" };
  if (stated > policy.capMs) return { ...refusal, reason: "cap" };
  if (deadlineMs !== null && stated >= deadlineMs) return { ...refusal, reason: "deadline" };
  const latest = Math.min(stated + Math.floor((stated * policy.jitterPercent) / 100), deadlineMs ?? Infinity);
  return { ...refusal, action: "wait", reason: source === "backoff" ? "backoff" : "server", waitMs: [stated, latest] };
}

/** The wait in milliseconds for a random number from 0 to 1; 0 unless the action is "wait". */
export function waitOf(advice: Advice, random: number): number {
  if (!advice.waitMs) return 0;
  const [earliest, latest] = advice.waitMs;
  return earliest + (latest - earliest) * random;
}

/** The advice in a sentence, for logs. */
export function explain(advice: Advice): string {
  const stated = `${advice.source} says ${(advice.holdMs / 1000).toFixed(3)} s`;
  switch (advice.reason) {
    case "ok": return "no limit";
    case "used_up": return `the quota is used up: ${stated}`;
    case "server": return `refused by a limit: ${stated}`;
    case "backoff": return "refused by a limit that says no time: backing off";
    case "never": return "refused by a limit, and waiting does not help";
    case "attempts": return "refused by a limit, and this was the last attempt";
    case "unsafe": return "503, and the request may have been processed: it has no idempotency key";
    case "cap": return `refused by a limit: ${stated}, more than the cap`;
    case "deadline": return `refused by a limit: ${stated}, more than the deadline leaves`;
  }
}
