#pragma once

#include "frontend/http/exchange.h"
#include "service/limiter_service.h"
#include "wire/http_request.h"

namespace sluice::frontend::http {

// POST /v1/ratelimit/settle: {"reservation": "…", "cost": 312}, what a request that was checked
// with "reserve": true cost in the end; of rules that count an attribute, that attribute's member
// where there is one. The reply says for each rule what was charged and at what it is settled,
// which stays as it was said first.
void HandleSettle(const wire::HttpRequest& request, service::LimiterService& service,
                  Exchange& exchange);

// POST /v1/ratelimit/refund: {"receipt": "…"}, of a check with "receipt": true, gives back all
// that it charged, once, as far as it still counts.
void HandleReceipt(const wire::HttpRequest& request, service::LimiterService& service,
                   Exchange& exchange);

}  // namespace sluice::frontend::http
