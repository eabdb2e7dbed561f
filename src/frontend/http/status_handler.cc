#include "frontend/http/status_handler.h"

#include <algorithm>
#include <charconv>

#include "frontend/http/problem.h"

namespace sluice::frontend::http {

std::optional<Cost> ReadCost(std::string_view text) {
  Cost cost;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, cost.units);
  const bool read = error == std::errc() && stop == end;
  return read && cost.units >= 0 && cost.units <= kMaxUnits ? std::optional(cost) : std::nullopt;
}

bool ReadStatusQuery(const wire::HttpRequest& request, std::optional<std::string_view> user_id,
                     Exchange& exchange) {
  wire::FormQuery& query = exchange.query;
  query.Clear();
  auto read =
      user_id ? query.AddSegment("user_id", *user_id) : tl::expected<void, std::string_view>();
  if (read) {
    read = query.AddQuery(request.query);
  }
  if (!read) {
    exchange.AnswerProblem(
        {.status = 400, .title = {}, .detail = read.error(), .code = "invalid_query"});
    return false;
  }
  if (const auto cost = query.Remove("cost")) {
    const auto units = ReadCost(*cost);
    if (!units) {
      exchange.AnswerProblem({.status = 400,
                              .title = {},
                              .detail = "cost must be a whole number from 0 to 999999999999999",
                              .code = "invalid_cost"});
      return false;
    }
    exchange.cost = *units;
  }
  exchange.attributes = query.attributes();
  return true;
}

void HandleStatus(const wire::HttpRequest& request, std::optional<std::string_view> user_id,
                  Exchange& exchange) {
  if (ReadStatusQuery(request, user_id, exchange)) {
    exchange.AskStatus();
  }
}

}  // namespace sluice::frontend::http
