#pragma once

#include "frontend/http/admin_context.h"
#include "frontend/http/exchange.h"

namespace sluice::frontend::http {

// GET /v1/ratelimit/shadow-report: for each rule in shadow how much it would have denied, and the
// keys that it would have denied most.
void HandleShadowReport(const AdminContext& context, Exchange& exchange);

}  // namespace sluice::frontend::http
