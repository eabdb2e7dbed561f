// A hook for Fastify.
//
//   app.addHook("onRequest", sluice({ client }));

import { denial, type MiddlewareOptions } from "./middleware.js";

/** As much of Fastify's request as is needed. */
export interface FastifyRequest {
  method: string;
  url: string;
  ip?: string;
}

export interface FastifyReply {
  code(status: number): unknown;
  header(name: string, value: string): unknown;
  send(body?: unknown): unknown;
  raw: { on(event: "close", listener: () => void): unknown };
}

/**
 * Asks Sluice before each request. A denied one is answered here, with the limit fields and Retry-After.
 * Attributes unless you say otherwise: `ip`, `method`, `endpoint` (the path). A slot of a concurrency rule is held until the
 * response is closed.
 */
export function sluice<Request extends FastifyRequest>(options: MiddlewareOptions<Request>) {
  const { client, cost = 1 } = options;
  const attributesOf =
    options.attributes ??
    ((request: Request) => ({ ip: request.ip, method: request.method, endpoint: request.url.split("?")[0] }));
  return async (request: Request, reply: FastifyReply): Promise<unknown> => {
    const attributes = await attributesOf(request);
    if (attributes === null) return undefined;
    const decision = await client.decide(attributes, cost);
    const answer = decision.allowed ? { headers: decision.headers, body: null, status: 0 } : denial(decision);
    for (const [name, value] of Object.entries(answer.headers)) reply.header(name, value);
    if (answer.body !== null) {
      reply.code(answer.status);
      reply.send(answer.body);
      return reply; // So that Fastify runs no handler.
    }
    if (decision.holds.length) reply.raw.on("close", () => void client.releaseQuietly(decision));
    return undefined;
  };
}
