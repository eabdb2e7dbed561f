#pragma once

#include <cstddef>

#include "frontend/http/exchange.h"
#include "service/limiter_service.h"
#include "wire/http_request.h"

namespace sluice::frontend::http {

inline constexpr std::size_t kMostChecksInBatch = 1'000;

// POST /v1/ratelimit/batch: an array of bodies as a check has them, each judged for itself and
// all of them at one reading of the clock. The reply is 200 and an array of their answers in the
// same order, each with the `status` that a check of its own would have had; one that is wrong
// is answered with its problem and spoils no other. `wait` holds nothing back here.
void HandleBatch(const wire::HttpRequest& request, service::LimiterService& service,
                 Exchange& exchange);

}  // namespace sluice::frontend::http
