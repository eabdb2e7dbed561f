#pragma once

#include "frontend/http/envoy_context.h"
#include "frontend/http/exchange.h"
#include "wire/http_request.h"

namespace sluice::frontend::http {

// POST /rlusage and /rlreset on the operators' front end, with a body as /json takes it: how much
// is left of the limits that its descriptors have, each limit for itself; or these made fresh.
//   {"limits": [{"descriptor": 0, "path": "d.user", "name": "daily", "unit": "DAY",
//     "requests_per_unit": 3, "limit": 3, "remaining": 1, "allowed": true, "retry_after_ms": 0,
//     "reset_after_ms": 81234567}]}
//   {"keys": 1, "complete": true}
void HandleUsage(const wire::HttpRequest& request, bool reset, const EnvoyContext& context,
                 Exchange& exchange);

}  // namespace sluice::frontend::http
