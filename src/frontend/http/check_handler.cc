#include "frontend/http/check_handler.h"

#include "frontend/http/keyed_check.h"
#include "frontend/http/problem.h"

namespace sluice::frontend::http {

void HandleCheck(const wire::HttpRequest& request, idempotency::AnswerMemory* memory,
                 service::LimiterService& service, Exchange& exchange) {
  if (request.fields.Has(wire::RareField::kContentEncoding)) {
    exchange.AnswerProblem({.status = 415,
                            .title = {},
                            .detail = "send the body without Content-Encoding",
                            .code = {}});
    exchange.AddField("Accept-Encoding", "identity");
    return;
  }
  if (const auto parsed = exchange.json.Parse(request.body); !parsed) {
    exchange.AnswerProblem(ProblemOf(parsed.error()));
    return;
  }
  const wire::CheckRequest& check = exchange.json.request();
  exchange.attributes = check.attributes;
  exchange.cost = check.cost;
  exchange.peek = check.peek;
  exchange.receipt = check.receipt;
  exchange.reserve = check.reserve;
  exchange.want_receipts = check.receipt || check.reserve;
  if (memory != nullptr && IsKeyed(request)) [[unlikely]] {
    SendKeyedCheck(request, *memory, service, check.wait, exchange);
    return;
  }
  exchange.AskCheck(check.wait);
}

}  // namespace sluice::frontend::http
