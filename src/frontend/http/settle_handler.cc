#include "frontend/http/settle_handler.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "frontend/http/problem.h"
#include "frontend/key_token.h"
#include "service/settle_call.h"
#include "wire/check_json.h"
#include "wire/json_writer.h"
#include "wire/scalar_object.h"

namespace sluice::frontend::http {

namespace {

constexpr std::size_t kTokenBytes = 60 * 1024;  // What a body has room for.

void Refuse(std::string_view detail, std::string_view code, Exchange& exchange) {
  exchange.AnswerProblem({.status = 400, .title = {}, .detail = detail, .code = code});
}

class Settlement final : public Errand, private service::SettleCall {
 public:
  Settlement(ChargeKind kind, service::LimiterService& service, Exchange& exchange)
      : kind_(kind), service_(service), exchange_(exchange) {}

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
          has_cost = member.kind != wire::ScalarKind::kNull;
          cost = amount->units;
        } else if (member.kind != wire::ScalarKind::kNull) {
          costs_.push_back({.name = member.name, .value = member.text});
        }
      }
    }
    if (!is_refund() && !has_cost && costs_.empty()) {
      Refuse("`cost` is missing: the actual cost of the request", "invalid_body", exchange_);
      return false;
    }
    auto read = ReadChargeToken(kind_, token);
    if (!read) {
      Refuse(is_refund() ? "`receipt` must come from the answer to a check"
                         : "`reservation` must come from the answer to a check",
             is_refund() ? "invalid_receipt" : "invalid_reservation", exchange_);
      return false;
    }
    tokens_ = *std::move(read);
    return true;
  }

  void Start() override {
    views_.reserve(tokens_.size());
    for (const ChargeToken& token : tokens_) {
      views_.push_back(token.key.Views());
      charges_.push_back({.rule = token.rule,
                          .parts = views_.back(),
                          .receipt = token.receipt,
                          .units = token.units,
                          .limit = token.limit,
                          .rate = token.rate});
    }
    charges = charges_;
    costs = costs_;
    if (is_refund()) {
      service_.Refund(*this);
    } else {
      service_.Settle(*this);
    }
  }

 private:
  [[nodiscard]] bool is_refund() const { return kind_ == ChargeKind::kReceipt; }
  [[nodiscard]] std::string_view NameOfToken() const {
    return is_refund() ? "receipt" : "reservation";
  }

  void OnDone() noexcept override {
    std::size_t found = 0;
    std::optional<store::StoreError> failure;
    for (const service::Charge& charge : charges_) {
      found += charge.error == store::StoreError::kNone ? 1 : 0;
      if (charge.error != store::StoreError::kNone &&
          charge.error != store::StoreError::kNotFound) {
        failure = charge.error;
      }
    }
    if (failure == store::StoreError::kUnsupported) {
      exchange_.AnswerProblem({.status = 501,
                               .title = {},
                               .detail = "the store in use does not support this",
                               .code = "unsupported"});
    } else if (failure) {
      exchange_.AnswerProblem({.status = 503,
                               .title = {},
                               .detail = "the store did not answer: try again",
                               .code = "store_unavailable"});
    } else if (found == 0) {
      exchange_.AnswerProblem({.status = 404,
                               .title = {},
                               .detail =
                                   "unknown charge: it was made by another table, or its rules no "
                                   "longer exist",
                               .code = "no_such_charge"});
    } else {
      Answer();
    }
    exchange_.OnErrandDone();
  }

  void Answer() {
    std::string body;
    wire::JsonWriter json(body);
    json.BeginObject();
    json.Name(is_refund() ? "refunded" : "settled").BeginArray();
    for (const service::Charge& charge : charges_) {
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

  const ChargeKind kind_;
  service::LimiterService& service_;
  Exchange& exchange_;
  wire::ScalarObject object_{"", {}, {.value_bytes = kTokenBytes}};
  std::vector<Attribute> costs_;
  std::vector<ChargeToken> tokens_;
  std::vector<std::vector<core::KeyPart>> views_;
  std::vector<service::Charge> charges_;
};

void Handle(ChargeKind kind, const wire::Http1Request& request, service::LimiterService& service,
            Exchange& exchange) {
  auto settlement = std::make_unique<Settlement>(kind, service, exchange);
  if (settlement->Read(request.body)) {
    exchange.Send(std::move(settlement));
  }
}

}  // namespace

void HandleSettle(const wire::Http1Request& request, service::LimiterService& service,
                  Exchange& exchange) {
  Handle(ChargeKind::kReservation, request, service, exchange);
}

void HandleReceipt(const wire::Http1Request& request, service::LimiterService& service,
                   Exchange& exchange) {
  Handle(ChargeKind::kReceipt, request, service, exchange);
}

}  // namespace sluice::frontend::http
