#pragma once

#include <string_view>

#include "frontend/http/admin_context.h"
#include "frontend/http/exchange.h"
#include "wire/http_request.h"

namespace sluice::frontend::http {

// GET /v1/ratelimit/config: all rules in force, in declaration order.
void HandleRules(const AdminContext& context, Exchange& exchange);

// GET, PUT, DELETE /v1/ratelimit/config/{rule_id}. An ETag names the rule's text as it stands;
// If-Match and If-None-Match (RFC 9110, 13.1) are judged against it, 412 where they fail. A rule
// that does not load is 422 with every error, and nothing changes.
void HandleRule(const wire::HttpRequest& request, std::string_view id, const AdminContext& context,
                Exchange& exchange);

}  // namespace sluice::frontend::http
