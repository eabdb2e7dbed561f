#include "frontend/http/key_handler.h"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "frontend/http/operation.h"
#include "frontend/http/problem.h"
#include "service/operator_call.h"
#include "wire/check_json.h"
#include "wire/json_writer.h"
#include "wire/scalar_object.h"

namespace sluice::frontend::http {

namespace {

// What an operator does to keys, from its body to its answer. The exchange owns it.
class KeyOperation final : public Operation, private service::OperatorCall {
 public:
  KeyOperation(Exchange& exchange, service::LimiterService& service, bool is_refund)
      : exchange_(exchange), service_(service), is_refund_(is_refund) {}

  // False, answered, if the body is not what it should be.
  bool Read(std::string_view body) {
    const auto refuse = [&](const wire::JsonProblem& problem) {
      exchange_.AnswerProblem(ProblemOf(problem));
      return false;
    };
    if (const auto read = object_.Read(body); !read) {
      return refuse(read.error());
    }
    bool has_units = false;
    for (const wire::JsonMember& member : object_.members()) {
      if (member.reserved && member.name == "rule") {
        const auto rule = wire::TextOf(member, body);
        if (!rule) {
          return refuse(rule.error());
        }
        only_rule = *rule;
      } else if (member.reserved) {
        const auto cost = wire::CostOf(member, body);
        if (!cost) {
          return refuse(cost.error());
        }
        has_units = member.kind != wire::ScalarKind::kNull;
        units = cost->units;
      } else if (member.kind != wire::ScalarKind::kNull) {
        attributes_.push_back({.name = member.name, .value = member.text});
      }
    }
    if (has_units != is_refund_) {
      exchange_.AnswerProblem(
          {.status = 400,
           .title = {},
           .detail = is_refund_ ? "`units` is missing: the number to give back to each key"
                                : "a reset has no `units`: use a refund to give some back",
           .code = "invalid_request"});
      return false;
    }
    if (attributes_.empty()) {
      exchange_.AnswerProblem({.status = 400,
                               .title = {},
                               .detail = "name the key's attributes, as in {\"user_id\": \"u_42\"}",
                               .code = "invalid_request"});
      return false;
    }
    attributes = attributes_;
    return true;
  }

  void Start() override {
    if (is_refund_) {
      service_.Refund(*this);
    } else {
      service_.Reset(*this);
    }
  }

 private:
  void OnDone() noexcept override {
    if (!request_error.empty()) {
      exchange_.AnswerProblem(
          {.status = 400, .title = {}, .detail = request_error, .code = "invalid_request"});
    } else if (error != store::StoreError::kNone && touched == 0) {
      // What a rule of holds cannot do (a refund) must not hide what was done to the others.
      const bool unsupported = error == store::StoreError::kUnsupported;
      exchange_.AnswerProblem(
          {.status = unsupported ? 422 : 503,
           .title = {},
           .detail = unsupported ? "the rules that apply cannot be refunded: release their holds"
                                 : "the store did not answer: try again",
           .code = unsupported ? "unsupported" : "store_unavailable"});
    } else {
      std::string body;
      wire::JsonWriter json(body);
      json.BeginObject();
      json.Name("keys").Number(static_cast<std::int64_t>(touched));
      json.Name("complete").Truth(error == store::StoreError::kNone);
      json.Name("scope").Text("node");
      json.EndObject();
      exchange_.AnswerText(200, "application/json", body);
    }
    exchange_.OnOperationDone();
  }

  Exchange& exchange_;
  service::LimiterService& service_;
  const bool is_refund_;
  wire::ScalarObject object_{"attributes", {"rule", "units"}};
  std::vector<Attribute> attributes_;
};

void Handle(const wire::HttpRequest& request, bool is_refund, service::LimiterService& service,
            Exchange& exchange) {
  auto operation = std::make_unique<KeyOperation>(exchange, service, is_refund);
  if (operation->Read(request.body)) {
    exchange.Send(std::move(operation));
  }
}

}  // namespace

void HandleReset(const wire::HttpRequest& request, service::LimiterService& service,
                 Exchange& exchange) {
  Handle(request, false, service, exchange);
}

void HandleRefund(const wire::HttpRequest& request, service::LimiterService& service,
                  Exchange& exchange) {
  Handle(request, true, service, exchange);
}

}  // namespace sluice::frontend::http
