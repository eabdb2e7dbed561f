#include "frontend/http/settle_handler.h"

#include <memory>
#include <string>
#include <utility>

#include "frontend/charge_redemption.h"
#include "frontend/http/problem.h"
#include "wire/check_json.h"
#include "wire/json_writer.h"
#include "wire/scalar_object.h"

namespace sluice::frontend::http {

namespace {

constexpr std::size_t kTokenBytes = 60 * 1024;  // What a body has room for.

void Refuse(std::string_view detail, std::string_view code, Exchange& exchange) {
  exchange.AnswerProblem({.status = 400, .title = {}, .detail = detail, .code = code});
}

class Settlement final : public Operation, private ChargeRedemption {
 public:
  Settlement(ChargeKind kind, service::LimiterService& service, Exchange& exchange)
      : ChargeRedemption(service, exchange.keys(), kind), exchange_(exchange) {}

  // False, answered, if the body is not what it should be.
  bool Read(std::string_view body) {
    if (auto read = object_.Read(body); !read) {
      exchange_.AnswerProblem(ProblemOf(read.error()));
      return false;
    }
    std::string_view token;
    bool has_cost = false;
    for (const wire::JsonMember& member : object_.members()) {
      if (member.name == NameOfToken()) {
        token = member.text;
      } else if (is_refund()) {
        Refuse("a refund takes only a receipt: it gives the whole charge back", "invalid_body",
               exchange_);
        return false;
      } else {
        const auto amount = wire::CostOf(member, body);
        if (!amount) {
          exchange_.AnswerProblem(ProblemOf(amount.error()));
          return false;
        }
        if (member.name == "cost") {
          has_cost = has_cost || member.kind != wire::ScalarKind::kNull;
          CostsInAll(amount->units);
        } else if (member.kind != wire::ScalarKind::kNull) {
          has_cost = true;
          CostsOf(member.name, member.text);
        }
      }
    }
    if (!is_refund() && !has_cost) {
      Refuse("`cost` is missing: the actual cost of the request", "invalid_body", exchange_);
      return false;
    }
    if (!ChargeRedemption::Read(token)) {
      Refuse(is_refund() ? "`receipt` must come from the answer to a check"
                         : "`reservation` must come from the answer to a check",
             is_refund() ? "invalid_receipt" : "invalid_reservation", exchange_);
      return false;
    }
    return true;
  }

  void Start() override { Redeem(); }

 private:
  [[nodiscard]] bool is_refund() const { return kind() == ChargeKind::kReceipt; }
  [[nodiscard]] std::string_view NameOfToken() const {
    return is_refund() ? "receipt" : "reservation";
  }

  void OnRedeemed() noexcept override {
    if (outcome() == Redeemed::kDone) {
      Answer();
    } else {
      exchange_.AnswerProblem(ProblemOf(
          outcome(),
          {.status = 404,
           .title = {},
           .detail = "unknown charge: the token was altered, or its rules no longer exist",
           .code = "no_such_charge"}));
    }
    exchange_.OnOperationDone();
  }

  void Answer() {
    std::string body;
    wire::JsonWriter json(body);
    json.BeginObject();
    json.Name(is_refund() ? "refunded" : "settled").BeginArray();
    for (const service::Charge& charge : results()) {
      if (charge.error != store::StoreError::kNone) {
        continue;
      }
      json.BeginObject();
      json.Name("name").Text(charge.rule);
      if (is_refund()) {
        json.Name("units").Number(charge.units - charge.settled);
      } else {
        json.Name("charged").Number(charge.units).Name("cost").Number(charge.settled);
      }
      json.EndObject();
    }
    json.EndArray().EndObject();
    exchange_.AnswerText(200, "application/json", body);
  }

  Exchange& exchange_;
  wire::ScalarObject object_{"", {}, {.value_bytes = kTokenBytes}};
};

void Handle(ChargeKind kind, const wire::HttpRequest& request, service::LimiterService& service,
            Exchange& exchange) {
  auto settlement = std::make_unique<Settlement>(kind, service, exchange);
  if (settlement->Read(request.body)) {
    exchange.Send(std::move(settlement));
  }
}

}  // namespace

void HandleSettle(const wire::HttpRequest& request, service::LimiterService& service,
                  Exchange& exchange) {
  Handle(ChargeKind::kReservation, request, service, exchange);
}

void HandleReceipt(const wire::HttpRequest& request, service::LimiterService& service,
                   Exchange& exchange) {
  Handle(ChargeKind::kReceipt, request, service, exchange);
}

}  // namespace sluice::frontend::http
