#pragma once

#include "frontend/http/exchange.h"
#include "wire/http1_request.h"

namespace sluice::frontend::http {

// POST /v1/ratelimit/check: reads the body into `exchange` and asks the service, or answers
// with the problem: 415 for a body that says it is no JSON, 400 for one that is none.
void HandleCheck(const wire::Http1Request& request, Exchange& exchange);

}  // namespace sluice::frontend::http
