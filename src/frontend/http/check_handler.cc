#include "frontend/http/check_handler.h"

#include <algorithm>
#include <string_view>

#include "frontend/http/problem.h"

namespace sluice::frontend::http {

namespace {

bool EqualsIgnoringCase(std::string_view a, std::string_view lower) {
  return std::equal(a.begin(), a.end(), lower.begin(), lower.end(), [](char x, char y) {
    return (x >= 'A' && x <= 'Z' ? static_cast<char>(x | 0x20) : x) == y;
  });
}

// application/json with any parameters, or no word of it.
bool MayBeJson(std::string_view content_type) {
  std::string_view type = content_type.substr(0, content_type.find(';'));
  while (!type.empty() && (type.back() == ' ' || type.back() == '\t')) {
    type.remove_suffix(1);
  }
  return type.empty() || EqualsIgnoringCase(type, "application/json");
}

}  // namespace

void HandleCheck(const wire::Http1Request& request, Exchange& exchange) {
  if (!MayBeJson(request.Field("Content-Type"))) {
    exchange.AnswerProblem(
        {.status = 415,
         .title = {},
         .detail = "a check is a JSON object: send Content-Type: application/json",
         .code = {}});
    exchange.AddField("Accept", "application/json");
    return;
  }
  if (request.HasField("Content-Encoding")) {
    exchange.AnswerProblem({.status = 415,
                            .title = {},
                            .detail = "send the body without Content-Encoding",
                            .code = {}});
    exchange.AddField("Accept-Encoding", "identity");
    return;
  }
  if (const auto parsed = exchange.json.Parse(request.body); !parsed) {
    const wire::JsonProblem& problem = parsed.error();
    exchange.AnswerProblem({.status = 400,
                            .title = {},
                            .detail = problem.message,
                            .code = wire::FaultName(problem.fault),
                            .place = &problem});
    return;
  }
  const wire::CheckRequest& check = exchange.json.request();
  if (check.reserve || check.receipt) {
    exchange.AnswerProblem({.status = 400,
                            .title = {},
                            .detail = check.reserve
                                          ? "this version makes no reservations: leave out reserve"
                                          : "this version gives no receipts: leave out receipt",
                            .code = "unsupported"});
    return;
  }
  exchange.attributes = check.attributes;
  exchange.cost = check.cost;
  exchange.peek = check.peek;
  exchange.AskCheck(check.wait);
}

}  // namespace sluice::frontend::http
