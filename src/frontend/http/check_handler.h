#pragma once

#include "frontend/http/exchange.h"
#include "idempotency/answer_memory.h"
#include "service/limiter_service.h"
#include "wire/http_request.h"

namespace sluice::frontend::http {

// POST /v1/ratelimit/check: reads the body into `exchange` and asks the service, or answers
// with the problem: 415 for an encoded body, 400 for one that is no JSON. What Content-Type
// says is not asked: `curl -d` calls every body a form, and a body is judged by what it is.
// With an Idempotency-Key and a `memory`, see keyed_check.h.
void HandleCheck(const wire::HttpRequest& request, idempotency::AnswerMemory* memory,
                 service::LimiterService& service, Exchange& exchange);

}  // namespace sluice::frontend::http
