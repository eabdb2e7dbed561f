#pragma once

#include <optional>
#include <string_view>

#include "frontend/http/exchange.h"
#include "wire/http_request.h"

namespace sluice::frontend::http {

// GET /v1/ratelimit/status/{user_id} and /v1/ratelimit/status?user_id=u_42&plan=pro: asks
// what each rule that applies has left, as a peek of one unit (or of `cost` units). Every
// query member but cost is an attribute. `user_id`: the path's segment, still encoded.
void HandleStatus(const wire::HttpRequest& request, std::optional<std::string_view> user_id,
                  Exchange& exchange);

// Reads such a query into the exchange's attributes and cost. False: it is wrong, and answered.
[[nodiscard]] bool ReadStatusQuery(const wire::HttpRequest& request,
                                   std::optional<std::string_view> user_id, Exchange& exchange);

// Decimal digits, 0 to kMaxUnits; none for anything else.
[[nodiscard]] std::optional<Cost> ReadCost(std::string_view text);

}  // namespace sluice::frontend::http
