// A middleware for Express, Connect and plain node:http.
//
//   app.use(sluice({ client, attributes: (request) => ({ user_id: request.user.id, endpoint: request.path }) }));

import { denial, type MiddlewareOptions } from "./middleware.js";

/** As much of Express's request as is needed. */
export interface ExpressRequest {
  method?: string | undefined;
  url?: string | undefined;
  ip?: string | undefined;
  path?: string | undefined;
}

export interface ExpressResponse {
  statusCode: number;
  setHeader(name: string, value: string): unknown;
  end(body?: string): unknown;
  on(event: "close", listener: () => void): unknown;
}

/**
 * Asks Sluice before each request. A denied one is answered here, with the limit fields and Retry-After.
 * Attributes unless you say otherwise: `ip` (request.ip), `method`, `endpoint` (the path). A slot of a concurrency rule is held
 * until the response is closed.
 */
export function sluice<Request extends ExpressRequest>(options: MiddlewareOptions<Request>) {
  const { client, cost = 1 } = options;
  const attributesOf =
    options.attributes ??
    ((request: Request) => ({ ip: request.ip, method: request.method, endpoint: request.path ?? request.url?.split("?")[0] }));
  return async (request: Request, response: ExpressResponse, next: (error?: unknown) => void): Promise<void> => {
    try {
      const attributes = await attributesOf(request);
      if (attributes !== null) {
        const decision = await client.decide(attributes, cost);
        const answer = decision.allowed ? { headers: decision.headers, body: null, status: 0 } : denial(decision);
        for (const [name, value] of Object.entries(answer.headers)) response.setHeader(name, value);
        if (answer.body !== null) {
          response.statusCode = answer.status;
          response.end(answer.body);
          return;
        }
        if (decision.holds.length) response.on("close", () => void client.releaseQuietly(decision));
      }
    } catch (error) {
      next(error);
      return;
    }
    next();
  };
}
