#include "frontend/http/check_handler.h"

#include "frontend/http/problem.h"

namespace sluice::frontend::http {

void HandleCheck(const wire::Http1Request& request, Exchange& exchange) {
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
  exchange.receipt = check.receipt;
  exchange.reserve = check.reserve;
  exchange.want_receipts = check.receipt || check.reserve;
  exchange.AskCheck(check.wait);
}

}  // namespace sluice::frontend::http
