#include <string>

#include "frontend/http/handlers.h"
#include "wire/check_json.h"
#include "wire/json_writer.h"
#include "wire/scalar_object.h"

namespace sluice::frontend::http {

namespace {

constexpr std::size_t kTokenBytes = 60 * 1024;  // The longest token that a body may have.

void RefuseCharges(std::string_view detail, std::string_view code, Exchange& exchange) {
  exchange.AnswerProblem({.status = 400, .title = {}, .detail = detail, .code = code});
}

// Takes a member of a settlement other than the token. False, and answered, if it is invalid.
bool TakeCost(const wire::JsonMember& member, std::string_view body, bool& has_cost,
              Exchange& exchange) {
  const auto amount = wire::CostOf(member, body);
  if (!amount) {
    exchange.AnswerProblem(ProblemOf(amount.error()));
    return false;
  }
  const bool is_null = member.kind == wire::ScalarKind::kNull;
  has_cost |= !is_null;
  if (member.name == "cost") {
    exchange.redemption.CostsInAll(amount->units);
  } else if (!is_null) {
    exchange.redemption.CostsOf(member.name, member.text);
  }
  return true;
}

// Reads the token. False, and answered, if the body is invalid.
bool ReadCharges(ChargeKind kind, std::string_view body, Exchange& exchange) {
  const bool is_refund = kind == ChargeKind::kReceipt;
  const std::string_view name_of_token = is_refund ? "receipt" : "reservation";
  wire::ScalarObject object{"", {}, {.value_bytes = kTokenBytes}};
  if (auto read = object.Read(body); !read) {
    exchange.AnswerProblem(ProblemOf(read.error()));
    return false;
  }
  std::string_view token;
  bool has_cost = false;
  for (const wire::JsonMember& member : object.members()) {
    if (member.name == name_of_token) {
      token = member.text;
    } else if (is_refund) {
      RefuseCharges("a refund takes only a receipt: it gives the whole charge back", "invalid_body",
                    exchange);
      return false;
    } else if (!TakeCost(member, body, has_cost, exchange)) {
      return false;
    }
  }
  if (!is_refund && !has_cost) {
    RefuseCharges("`cost` is missing: the actual cost of the request", "invalid_body", exchange);
    return false;
  }
  if (!exchange.redemption.ReadCharges(token)) {
    RefuseCharges(is_refund ? "`receipt` must come from the answer to a check"
                            : "`reservation` must come from the answer to a check",
                  is_refund ? "invalid_receipt" : "invalid_reservation", exchange);
    return false;
  }
  return true;
}

void WriteCharges(Exchange& exchange) {
  const Redeemed outcome = exchange.redemption.outcome();
  if (outcome != Redeemed::kDone) {
    exchange.AnswerProblem(ProblemOf(
        outcome, {.status = 404,
                  .title = {},
                  .detail = "unknown charge: the token was altered, or its rules no longer exist",
                  .code = "no_such_charge"}));
    return;
  }
  const bool is_refund =
      exchange.operation.Get<service::Settlement>().kind == service::Settlement::Kind::kRefund;
  std::string body;
  wire::JsonWriter json(body);
  json.BeginObject();
  json.Name(is_refund ? "refunded" : "settled").BeginArray();
  for (const service::Charge& charge : exchange.redemption.charges()) {
    if (charge.error != store::StoreError::kNone) {
      continue;
    }
    json.BeginObject();
    json.Name("name").Text(charge.key.rule());
    if (is_refund) {
      json.Name("units").Number(charge.made.units - charge.settled);
    } else {
      json.Name("charged").Number(charge.made.units).Name("cost").Number(charge.settled);
    }
    json.EndObject();
  }
  json.EndArray().EndObject();
  exchange.AnswerText(200, "application/json", body);
}

void HandleCharges(ChargeKind kind, const Routed& routed) {
  routed.exchange.redemption.BeginCharges(kind, routed.at.settings.keys);
  if (ReadCharges(kind, routed.request.body, routed.exchange)) {
    routed.exchange.Ask(WriteCharges);
  }
}

}  // namespace

void HandleSettle(const Routed& routed) {
  HandleCharges(ChargeKind::kReservation, routed);
}

void HandleReceipt(const Routed& routed) {
  HandleCharges(ChargeKind::kReceipt, routed);
}

}  // namespace sluice::frontend::http
