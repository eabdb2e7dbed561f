#include <string>
#include <vector>

#include "sluice/reason.h"

#include "base/assert.h"
#include "frontend/http/handlers.h"
#include "frontend/http/limit_headers.h"
#include "frontend/http/proxy_question.h"
#include "rules/rule.h"
#include "wire/json_writer.h"

// Proxies take 200 as yes and the requested status as no; all others are failures of Sluice to
// them. The status that it would have been is in X-RL-Status.
namespace sluice::frontend::http {

namespace {

constexpr std::string_view kStatusField = "X-RL-Status";
constexpr std::string_view kClientsQuery =
    "the query of /v1/check/http contains the client's query, so a client could set "
    "itself any cost and attribute: have the proxy request a fixed path (Caddy: rewrite "
    "/v1/check/http?)";
constexpr std::string_view kBothFamilies =
    "X-Original-... and X-Forwarded-... both name the client's request, and only one can be the "
    "proxy's: have the proxy remove the other, or set the listener's proxy: {request_fields: ...}";

// The value of Access-Control-Allow-Origin for this origin; "" for none.
std::string_view AllowedOrigin(std::string_view origin, const ProxySettings& settings) {
  for (const std::string& one : settings.cors_origins) {
    if (!origin.empty() && (one == "*" || one == origin)) {
      return one;
    }
  }
  return {};
}

void Note(std::string_view peer, ForwardingNotes* notes) {
  if (notes != nullptr && notes->untrusted.fetch_add(1, std::memory_order_relaxed) == 0 &&
      notes->on_first) {
    notes->on_first(peer);
  }
}

// Takes our own members from the query, which are no attributes. Returns "", or the fault.
std::string_view TakeControls(Exchange& exchange) {
  wire::FormQuery& query = exchange.context.query;
  if (const auto status = query.Remove("deny_status")) {
    if (*status != "429" && *status != "403") {
      return "deny_status must be 429 or 403";
    }
    exchange.context.proxy.deny_status = *status == "403" ? 403 : 429;
  }
  if (const auto cost = query.Remove("cost")) {
    const auto units = ReadCost(*cost);
    if (!units) {
      return "cost must be a whole number from 0 to 999999999999999";
    }
    exchange.operation.Get<service::RuleCheck>().cost = *units;
  }
  return {};
}

// The client's request cannot be judged. The reason goes to the log only, because the proxy's
// client reads the answer.
void RefuseRequest(std::string_view wrong, Exchange& exchange) {
  exchange.Log(400, wrong);
  exchange.response.Add(kStatusField, "400");
  exchange.response.SetProblem({.status = exchange.context.proxy.deny_status,
                                .title = {},
                                .detail = "the request cannot be judged",
                                .code = "invalid_request"});
  exchange.SetReady();
}

// The proxy's question itself is invalid, independently of its client.
void BlameProxy(std::string_view wrong, Exchange& exchange) {
  exchange.Log(500, wrong);
  exchange.response.Add(kStatusField, "500");
  exchange.response.SetProblem(
      {.status = 500, .title = {}, .detail = {}, .code = "proxy_misconfigured"});
  exchange.SetReady();
}

void AddCrossOriginFields(std::string_view origin, std::uint8_t limit_fields, Response& response) {
  response.Add("Access-Control-Allow-Origin", origin);
  response.Add("Access-Control-Expose-Headers",
               "Retry-After, X-Request-Id" + LimitFieldNames(limit_fields));
  response.Add("Vary", "Origin");
}

void WriteDenial(const service::Verdict& verdict, Exchange& exchange) {
  const ProxyAnswer& proxy = exchange.context.proxy;
  const service::RuleDecision* governing = verdict.governing_decision();
  SLUICE_DCHECK(governing != nullptr);
  const ReasonRow& row = RowOf(governing->decision.reason);
  Response& response = exchange.response;
  response.status = proxy.deny_status;
  response.Add(kStatusField, row.http_status);
  AddRetryAfter(verdict, exchange);
  response.Add("Cache-Control", "no-store");
  if (!proxy.origin.empty()) {
    AddCrossOriginFields(proxy.origin, exchange.pool().settings().limit_headers, response);
  }
  const std::string detail = governing->rule->id + " denies: " + std::string(row.name);
  if (proxy.grpc) {
    response.content_type = "application/grpc";
    response.Add("grpc-status", row.grpc_code);
    response.Add("grpc-message", detail);
    return;
  }
  std::vector<std::string_view> violated;
  for (const service::RuleDecision& item : verdict.decisions) {
    if (!item.decision.allowed && !item.decision.shadow) {
      violated.push_back(item.rule->id);
    }
  }
  response.content_type = kProblemType;
  wire::AppendProblem(response.body, {.type = row.problem_type,
                                      .title = row.title,
                                      .status = response.status,
                                      .detail = detail,
                                      .code = row.name,
                                      .violated_policies = violated});
}

void WriteProxyAnswer(Exchange& exchange) {
  service::Verdict& verdict = exchange.operation.Get<service::RuleCheck>().verdict;
  if (!verdict.request_error.empty()) {
    RefuseRequest(verdict.request_error, exchange);
    return;
  }
  if (verdict.now == WallInstant{}) {
    verdict.now = exchange.pool().clock().Read().wall_clock;  // No store was involved.
  }
  Response& response = exchange.response;
  AppendLimitFields(verdict, response.fields, exchange.pool().settings().limit_headers);
  response.content_type = {};
  if (verdict.allowed) {
    response.status = 200;
    response.Add(kStatusField, "200");
  } else {
    WriteDenial(verdict, exchange);
  }
}

}  // namespace

void HandleProxyCheck(const Routed& routed) {
  const wire::HttpRequest& request = routed.request;
  const ProxySettings& settings = routed.at.settings.proxy;
  Exchange& exchange = routed.exchange;
  auto& check = exchange.operation.Ask<service::RuleCheck>();
  ProxyAnswer& answer = exchange.context.proxy;
  answer.deny_status = 429;
  answer.origin = AllowedOrigin(request.Field("Origin"), settings);
  answer.grpc = request.Field("Content-Type").starts_with("application/grpc");
  wire::FormQuery& query = exchange.context.query;
  query.Clear();
  SingleFields fields(request);
  const AskedRequest asked = ReadAsked(request, routed.tail, settings.request_fields, fields);
  // Behind a path, the query is that of the original request, which the client writes.
  if (routed.tail.empty() && !request.query.empty()) {
    std::string_view wrong = IsClientsQuery(request.query, asked.uri) ? kClientsQuery : "";
    if (wrong.empty()) {
      const auto read = query.AddQuery(request.query);
      wrong = read ? TakeControls(exchange) : read.error();
    }
    if (!wrong.empty()) {
      BlameProxy(wrong, exchange);
      return;
    }
  }
  if (asked.both_families) {
    BlameProxy(kBothFamilies, exchange);
    return;
  }
  if (!answer.origin.empty() && asked.method == "OPTIONS" &&
      request.HasField("Access-Control-Request-Method")) {
    exchange.AnswerText(200, {}, {});  // A preflight: the request that it announces will be judged.
    exchange.response.Add(kStatusField, "200");
    return;
  }

  const ClientAddress client =
      FindClientAddress(request, exchange.peer_address(), settings.forwarding);
  if (client.untrusted) {
    Note(exchange.peer_address(), settings.notes);
  }
  const std::string_view wrong = AddAttributes(asked, client, request, settings, fields, query);
  if (!wrong.empty() || !fields.twice().empty()) {
    RefuseRequest(
        fields.twice().empty()
            ? std::string(wrong)
            : std::string(fields.twice()) +
                  " is given twice, and one may be the client's: have the proxy overwrite it",
        exchange);
    return;
  }
  check.attributes = query.attributes();
  exchange.Ask(WriteProxyAnswer);
}

}  // namespace sluice::frontend::http
