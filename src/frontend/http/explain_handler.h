#pragma once

#include "frontend/http/admin_context.h"
#include "frontend/http/exchange.h"
#include "wire/http_request.h"

namespace sluice::frontend::http {

// GET /v1/ratelimit/explain?user_id=u_42: which of the rules in force, with the modes that are set,
// apply to such a request, by what numbers, and why the others do not. Spends nothing, and asks no
// store. `cost` is the call's; every other member of the query is an attribute.
void HandleExplain(const wire::HttpRequest& request, const AdminContext& context,
                   Exchange& exchange);

}  // namespace sluice::frontend::http
