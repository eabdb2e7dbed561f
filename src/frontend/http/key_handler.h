#pragma once

#include "frontend/http/exchange.h"
#include "service/limiter_service.h"
#include "wire/http_request.h"

namespace sluice::frontend::http {

// POST /v1/ratelimit/reset with a request's attributes, as a check has them: the key of every rule
// that applies to them, or of the one that `rule` names, is fresh again.
void HandleReset(const wire::HttpRequest& request, service::LimiterService& service,
                 Exchange& exchange);

// POST /v1/ratelimit/refund, with `units` beside the attributes: the same keys get them back,
// clamped, so that none has more than its whole quota.
void HandleRefund(const wire::HttpRequest& request, service::LimiterService& service,
                  Exchange& exchange);

}  // namespace sluice::frontend::http
