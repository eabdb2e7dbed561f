#pragma once

#include "frontend/http/admin_desk.h"
#include "frontend/http/exchange.h"

namespace sluice::frontend::http {

// GET /v1/ratelimit/shadow-report: for each rule in shadow how much it would have denied, and the
// keys that it would have denied most.
void HandleShadowReport(const AdminDesk& desk, Exchange& exchange);

}  // namespace sluice::frontend::http
