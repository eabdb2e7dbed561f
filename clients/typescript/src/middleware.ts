// What the middlewares of all frameworks share.

import type { Attributes, Client } from "./client.js";
import type { Decision } from "./decision.js";

export interface MiddlewareOptions<Request> {
  client: Client;
  /** Makes the attributes of a request; null for a request that is not limited. Use only what you have verified. */
  attributes?: (request: Request) => Attributes | null | Promise<Attributes | null>;
  cost?: number;
}

const PHRASES: Record<number, string> = { 403: "Forbidden", 429: "Too Many Requests", 503: "Service Unavailable" };

/** Header fields and body (RFC 9457) for a denied request. */
export function denial(decision: Decision): { status: number; headers: Record<string, string>; body: string } {
  const { status, reason } = decision;
  const problem = { type: "about:blank", title: PHRASES[status] ?? "Denied", status, ...(reason ? { reason } : {}) };
  const headers = { ...decision.headers, "content-type": "application/problem+json", "cache-control": "no-store" };
  return { status, headers, body: JSON.stringify(problem) };
}
