#include "frontend/http/ban_handler.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "frontend/http/numbers.h"
#include "frontend/http/problem.h"
#include "service/operator_call.h"
#include "wire/check_json.h"
#include "wire/json_writer.h"
#include "wire/scalar_object.h"

namespace sluice::frontend::http {

namespace {

void AnswerFailure(store::StoreError error, Exchange& exchange) {
  const bool unsupported = error == store::StoreError::kUnsupported;
  exchange.AnswerProblem({.status = unsupported ? 501 : 503,
                          .title = {},
                          .detail = unsupported ? "the store in use does not support bans"
                                                : "the store did not answer: try again",
                          .code = unsupported ? "unsupported" : "store_unavailable"});
}

std::int64_t SecondsUp(WallInstant instant) {
  return std::chrono::ceil<std::chrono::seconds>(instant.time_since_epoch()).count();
}

class BanList final : public Operation, private store::BansCall {
 public:
  BanList(service::LimiterService& service, Exchange& exchange)
      : service_(service), exchange_(exchange) {}

  void Start() override { service_.ListBans(*this); }

 private:
  void OnAnswered() noexcept override {
    if (error != store::StoreError::kNone) {
      AnswerFailure(error, exchange_);
    } else {
      Answer();
    }
    exchange_.OnOperationDone();
  }

  void Answer() {
    std::ranges::sort(bans, {}, [](const store::BannedKey& ban) { return ban.until; });
    std::string body;
    wire::JsonWriter json(body);
    json.BeginObject();
    json.Name("bans").BeginArray();
    for (const store::BannedKey& ban : bans) {
      json.BeginObject();
      json.Name("rule").Text(ban.key.rule);
      json.Name("attributes").BeginObject();
      for (const store::KeptKey::Part& part : ban.key.parts) {
        json.EscapedName(part.attribute).Text(part.value);
      }
      json.EndObject();
      json.Name("since").Number(SecondsUp(ban.since));
      json.Name("until").Number(SecondsUp(ban.until));
      json.Name("left_ms").Number(CeilMilliseconds(ban.until - now));
      json.EndObject();
    }
    json.EndArray().EndObject();
    exchange_.AnswerText(200, "application/json", body);
  }

  service::LimiterService& service_;
  Exchange& exchange_;
};

class Unban final : public Operation, private service::OperatorCall {
 public:
  Unban(service::LimiterService& service, Exchange& exchange)
      : service_(service), exchange_(exchange) {}

  // False, answered, if the body is not what it should be.
  bool Read(std::string_view body) {
    if (const auto read = object_.Read(body); !read) {
      exchange_.AnswerProblem(ProblemOf(read.error()));
      return false;
    }
    for (const wire::JsonMember& member : object_.members()) {
      if (member.reserved) {
        const auto rule = wire::TextOf(member, body);
        if (!rule) {
          exchange_.AnswerProblem(ProblemOf(rule.error()));
          return false;
        }
        only_rule = *rule;
      } else if (member.kind != wire::ScalarKind::kNull) {
        attributes_.push_back({.name = member.name, .value = member.text});
      }
    }
    attributes = attributes_;
    if (attributes_.empty() && only_rule.empty()) {
      exchange_.AnswerProblem({.status = 400,
                               .title = {},
                               .detail = "name the key's attributes, as in {\"user_id\": \"u_42\"}",
                               .code = "invalid_request"});
      return false;
    }
    return true;
  }

  void Start() override { service_.Unban(*this); }

 private:
  void OnDone() noexcept override {
    if (!request_error.empty()) {
      exchange_.AnswerProblem(
          {.status = 400, .title = {}, .detail = request_error, .code = "invalid_request"});
    } else if (touched == 0 && error != store::StoreError::kNone &&
               error != store::StoreError::kNotFound) {
      AnswerFailure(error, exchange_);
    } else {
      std::string body;
      wire::JsonWriter json(body);
      json.BeginObject().Name("lifted").Number(static_cast<std::int64_t>(touched)).EndObject();
      exchange_.AnswerText(200, "application/json", body);
    }
    exchange_.OnOperationDone();
  }

  service::LimiterService& service_;
  Exchange& exchange_;
  wire::ScalarObject object_{"attributes", {"rule"}};
  std::vector<Attribute> attributes_;
};

}  // namespace

void HandleBans(service::LimiterService& service, Exchange& exchange) {
  exchange.Send(std::make_unique<BanList>(service, exchange));
}

void HandleUnban(const wire::HttpRequest& request, service::LimiterService& service,
                 Exchange& exchange) {
  auto unban = std::make_unique<Unban>(service, exchange);
  if (unban->Read(request.body)) {
    exchange.Send(std::move(unban));
  }
}

}  // namespace sluice::frontend::http
