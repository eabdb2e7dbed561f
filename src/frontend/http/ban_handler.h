#pragma once

#include "frontend/http/exchange.h"
#include "service/limiter_service.h"
#include "wire/http_request.h"

namespace sluice::frontend::http {

// GET /v1/ratelimit/bans: every key that is banned, by which rule, since and until when.
void HandleBans(service::LimiterService& service, Exchange& exchange);

// POST /v1/ratelimit/unban with a request's attributes, as a check has them: the key of every rule
// that applies to them, or of the one that `rule` names, is banned no longer.
void HandleUnban(const wire::HttpRequest& request, service::LimiterService& service,
                 Exchange& exchange);

}  // namespace sluice::frontend::http
