#pragma once

#include <cstddef>

#include "frontend/http/exchange.h"
#include "service/limiter_service.h"
#include "wire/http_request.h"

namespace sluice::frontend::http {

// POST /v1/ratelimit/release and renew. The body is one hold as a check's answer has it,
// {"name": …, "id": …}, or that answer's list, {"holds": [{"name": …, "id": …}]}, of 64 at most.
// The reply says how many were there to be released or renewed. A hold that is gone is no error
// of a release, which may be sent again; to renew one is 404, for whoever holds it has lost it.
void HandleHolds(const wire::HttpRequest& request, bool renew, service::LimiterService& service,
                 Exchange& exchange);

}  // namespace sluice::frontend::http
