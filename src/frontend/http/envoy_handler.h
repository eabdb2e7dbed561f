#pragma once

#include "frontend/http/envoy_context.h"
#include "frontend/http/exchange.h"
#include "wire/http_request.h"

namespace sluice::frontend::http {

// The HTTP paths of envoyproxy/ratelimit, with its answers.

// /json: a RateLimitRequest in JSON. 200 with the response, 429 where it is OVER_LIMIT; 400 for
// everything that is wrong, whoever's fault it is.
void HandleRateLimitJson(const wire::HttpRequest& request, const EnvoyContext& context,
                         Exchange& exchange);
// /healthcheck: 200 OK, or 500.
void HandleEnvoyHealth(const EnvoyContext& context, Exchange& exchange);
// /rlconfig: a line for each limit in force.
void HandleLimits(const EnvoyContext& context, Exchange& exchange);

// GET /stats on the operators' front end: what envoyproxy/ratelimit counts, under its names in
// statsd.
void HandleStats(const EnvoyContext& context, Exchange& exchange);
// GET / there: the paths that there are.
void HandleDebugPaths(const EnvoyContext& context, Exchange& exchange);

}  // namespace sluice::frontend::http
