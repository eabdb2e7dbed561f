// A middleware for Hono, on any of its runtimes.
//
//   app.use(sluice({ client, attributes: (context) => ({ user_id: context.get("user"), endpoint: context.req.path }) }));

import { denial, type MiddlewareOptions } from "./middleware.js";

/** As much of Hono's context as is needed. */
export interface HonoContext {
  req: { method: string; path: string };
  header(name: string, value: string): void;
}

/**
 * Asks Sluice before each request. A denied one is answered here, with the limit fields and Retry-After.
 * Attributes unless you say otherwise: `method`, `endpoint` (the path). Hono knows no address: name your own function for limits by
 * address. A slot of a concurrency rule is held until the handler has returned its response.
 */
export function sluice<Context extends HonoContext>(options: MiddlewareOptions<Context>) {
  const { client, cost = 1 } = options;
  const attributesOf = options.attributes ?? ((context: Context) => ({ method: context.req.method, endpoint: context.req.path }));
  return async (context: Context, next: () => Promise<void>): Promise<Response | void> => {
    const attributes = await attributesOf(context);
    if (attributes === null) {
      await next();
      return;
    }
    const decision = await client.decide(attributes, cost);
    if (!decision.allowed) {
      const { status, headers, body } = denial(decision);
      return new Response(body, { status, headers });
    }
    try {
      await next();
    } finally {
      await client.releaseQuietly(decision);
    }
    for (const [name, value] of Object.entries(decision.headers)) context.header(name, value);
  };
}
