#pragma once

#include <string_view>

#include "frontend/http/admin_context.h"
#include "frontend/http/exchange.h"
#include "wire/http_request.h"

namespace sluice::frontend::http {

// PUT /v1/ratelimit/mode/{rule_id} with {"mode": "enforce" | "shadow" | "off"}; GET says what is
// in force, DELETE gives the rule its own mode back.
void HandleMode(const wire::HttpRequest& request, std::string_view id, const AdminContext& context,
                Exchange& exchange);

// PUT /v1/ratelimit/kill-switch with {"on": true}: every rule is off until it is false again. GET
// says how it stands.
void HandleKillSwitch(const wire::HttpRequest& request, const AdminContext& context,
                      Exchange& exchange);

}  // namespace sluice::frontend::http
