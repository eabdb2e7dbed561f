#include <charconv>

#include "sluice/reason.h"

#include "base/random.h"
#include "frontend/http/answer.h"
#include "frontend/http/handlers.h"
#include "frontend/http/limit_headers.h"
#include "rules/rule.h"

namespace sluice::frontend::http {

namespace {

// Makes the response while what the verdict points to lives. `denied_status`: of a denial, which
// must not be cached (RFC 6585, section 4); a status is 200 whatever it says.
void WriteVerdict(Exchange& exchange, bool is_status) {
  service::Verdict& verdict = exchange.operation.Get<service::RuleCheck>().verdict;
  if (!verdict.request_error.empty()) {
    exchange.AnswerProblem(
        {.status = 400, .title = {}, .detail = verdict.request_error, .code = "invalid_request"});
    return;
  }
  ExchangePool& pool = exchange.pool();
  const FrontEndSettings& settings = pool.settings();
  if (verdict.now == WallInstant{}) {
    verdict.now = pool.clock().Read().wall_clock;  // No store was involved.
  }
  // The wait began when the store decided, which is before now, so the answer is never early. A
  // longer wait than the bound is only stated: the client must wait by itself.
  const bool waited = exchange.context.wait && verdict.allowed && verdict.wait.count() > 0 &&
                      verdict.wait <= settings.longest_wait;
  if (waited) {
    exchange.HoldBack(verdict.wait);
  }
  const bool denied = !is_status && !verdict.allowed;
  Response& response = exchange.response;
  response.status = denied ? StatusOf(verdict) : 200;
  AppendLimitFields(verdict, response.fields, settings.limit_headers);
  if (denied) {
    AddRetryAfter(verdict, exchange);
  }
  if (denied || is_status) {
    response.Add("Cache-Control", "no-store");
  }
  response.content_type = "application/json";
  AppendAnswer(verdict,
               {.waited = waited,
                .receipt = exchange.context.receipt,
                .reservation = exchange.context.reserve,
                .keys = settings.keys},
               response.body);
}

}  // namespace

void AddRetryAfter(const service::Verdict& verdict, Exchange& exchange) {
  if (const auto seconds = RetryAfterSeconds(verdict, base::ThreadRandom().Next())) {
    exchange.response.Add("Retry-After", *seconds);
  }
}

void WriteCheck(Exchange& exchange) {
  WriteVerdict(exchange, /*is_status=*/false);
}

void HandleCheck(const Routed& routed) {
  const wire::HttpRequest& request = routed.request;
  Exchange& exchange = routed.exchange;
  if (request.fields.Has(wire::RareField::kContentEncoding)) {
    exchange.AnswerProblem({.status = 415,
                            .title = {},
                            .detail = "send the body without Content-Encoding",
                            .code = {}});
    exchange.response.Add("Accept-Encoding", "identity");
    return;
  }
  RequestContext& context = exchange.context;
  if (const auto parsed = context.json.Parse(request.body); !parsed) {
    exchange.AnswerProblem(ProblemOf(parsed.error()));
    return;
  }
  const wire::CheckRequest& read = context.json.request();
  context.wait = read.wait;
  context.receipt = read.receipt;
  context.reserve = read.reserve;
  auto& check = exchange.operation.Ask<service::RuleCheck>();
  check.attributes = read.attributes;
  check.cost = read.cost;
  check.peek = read.peek;
  check.want_receipts = read.receipt || read.reserve;
  if (routed.at.settings.memory != nullptr && IsKeyed(request)) [[unlikely]] {
    RunKeyedCheck(routed);
    return;
  }
  exchange.Ask(WriteCheck);
}

std::optional<Cost> ReadCost(std::string_view text) {
  Cost cost;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, cost.units);
  const bool read = error == std::errc() && stop == end;
  return read && cost.units >= 0 && cost.units <= kMaxUnits ? std::optional(cost) : std::nullopt;
}

bool ReadStatusQuery(const Routed& routed) {
  Exchange& exchange = routed.exchange;
  wire::FormQuery& query = exchange.context.query;
  query.Clear();
  auto read = routed.tail.empty() ? tl::expected<void, std::string_view>()
                                  : query.AddSegment("user_id", routed.tail);
  if (read) {
    read = query.AddQuery(routed.request.query);
  }
  if (!read) {
    exchange.AnswerProblem(
        {.status = 400, .title = {}, .detail = read.error(), .code = "invalid_query"});
    return false;
  }
  auto& check = exchange.operation.Ask<service::RuleCheck>();
  if (const auto cost = query.Remove("cost")) {
    const auto units = ReadCost(*cost);
    if (!units) {
      exchange.AnswerProblem({.status = 400,
                              .title = {},
                              .detail = "cost must be a whole number from 0 to 999999999999999",
                              .code = "invalid_cost"});
      return false;
    }
    check.cost = *units;
  }
  check.attributes = query.attributes();
  return true;
}

void HandleStatus(const Routed& routed) {
  if (!ReadStatusQuery(routed)) {
    return;
  }
  auto& check = routed.exchange.operation.Get<service::RuleCheck>();
  check.peek = true;
  check.absent_cost = rules::AbsentCost::kIsTheCalls;
  if (routed.at.settings.role == Role::kAdmin) {
    check.secrets = rules::Secrets::kMayBeHashes;
  }
  routed.exchange.Ask([](Exchange& asked) { WriteVerdict(asked, /*is_status=*/true); });
}

}  // namespace sluice::frontend::http
