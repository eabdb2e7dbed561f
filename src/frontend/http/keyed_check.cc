#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "frontend/http/handlers.h"
#include "idempotency/answer_memory.h"
#include "idempotency/keyed_request.h"

namespace sluice::frontend::http {

namespace {

constexpr std::string_view kName = "Idempotency-Key";
constexpr std::string_view kOldName = "X-Idempotency-Key";
constexpr std::size_t kMostBytes = 256;

class KeyedCheck final : public Task {
 public:
  KeyedCheck(std::string name, std::string_view body, idempotency::AnswerMemory& memory,
             service::LimiterService& service, Exchange& exchange)
      : memory_(memory),
        service_(service),
        exchange_(exchange),
        request_(
            exchange.pool().loop(), memory, std::move(name), body,
            {.on_known = [this](Outcome outcome, const auto& answer) { OnKnown(outcome, answer); },
             .is_abandoned = [this] { return exchange_.abandoned(); },
             .now = [this] { return exchange_.Now(); }}) {}

  void Start() override {
    starts_ = true;
    request_.Begin();
    starts_ = false;
  }

 private:
  using Outcome = idempotency::KeyedRequest::Outcome;

  // The last use of this, except in Start().
  void OnKnown(Outcome outcome, const idempotency::AnswerMemory::Answer& answer) {
    switch (outcome) {
      case Outcome::kDecide:
        exchange_.AskForOthers([](Exchange& exchange) {
          WriteCheck(exchange);
          static_cast<KeyedCheck*>(exchange.task())->Keep();
        });
        if (!starts_) {  // Otherwise the connection sees that it must be submitted.
          service_.Submit(exchange_.operation);
        }
        return;
      case Outcome::kRepeat:
        AnswerAsBefore(answer);
        break;
      case Outcome::kOtherBody:
        exchange_.AnswerProblem({.status = 422,
                                 .title = {},
                                 .detail = "this Idempotency-Key was used with another body: "
                                           "use a new key for each request",
                                 .code = "key_reused"});
        break;
      case Outcome::kAbandoned:
        exchange_.AnswerText(503, "", "");
        break;
    }
    exchange_.OnTaskDone();
  }

  // Also if the client is gone: if it sends the request again, it has been charged already.
  void Keep() {
    const auto& check = exchange_.operation.Get<service::RuleCheck>();
    const Response& response = exchange_.response;
    if (check.verdict.request_error.empty() && check.verdict.allowed && !check.peek) {
      memory_.Keep(request_.name(), exchange_.Now(),
                   {.metadata = response.fields, .body = response.body});
    } else {
      memory_.Drop(request_.name());
    }
  }

  void AnswerAsBefore(const idempotency::AnswerMemory::Answer& answer) {
    Response& response = exchange_.response;
    response.status = 200;
    response.content_type = "application/json";
    response.fields = answer.metadata;
    response.Add("Idempotent-Replayed", "true");
    response.body = answer.body;
    exchange_.SetReady();
  }

  idempotency::AnswerMemory& memory_;
  service::LimiterService& service_;
  Exchange& exchange_;
  bool starts_ = false;
  idempotency::KeyedRequest request_;
};

// The owner of the key: the attribute that the configuration names, otherwise the credential,
// otherwise the address. A caller that is known by more than its address may repeat a request from
// anywhere. An attribute may contain any bytes, so its size precedes it; no other part has a line
// feed.
std::string CallerOf(const wire::HttpRequest& request, std::string_view attribute,
                     Exchange& exchange) {
  if (!attribute.empty()) {
    const Attributes attributes = exchange.operation.Get<service::RuleCheck>().attributes;
    const auto given = std::ranges::find(attributes, attribute, &Attribute::name);
    if (given != attributes.end()) {
      return "attribute " + std::to_string(given->value.size()) + " " + std::string(given->value);
    }
  }
  if (const std::string_view credential = request.Field("Authorization"); !credential.empty()) {
    return "credential " + std::string(credential);
  }
  return "address " + std::string(exchange.peer_address());
}

}  // namespace

void RunKeyedCheck(const RoutedRequest& routed) {
  const wire::HttpRequest& request = routed.request;
  idempotency::AnswerMemory& memory = *routed.at.settings.memory;
  Exchange& exchange = routed.exchange;
  const bool both = request.HasField(kName) && request.HasField(kOldName);
  const std::string_view key = request.Field(request.HasField(kName) ? kName : kOldName);
  if (key.empty() || key.size() > kMostBytes || request.HasSeveral(kName) ||
      request.HasSeveral(kOldName) || (both && request.Field(kOldName) != key)) {
    exchange.AnswerProblem({.status = 400,
                            .title = {},
                            .detail = "a request has one Idempotency-Key, of 1 to 256 bytes",
                            .code = "invalid_key"});
    return;
  }
  std::string name = CallerOf(request, memory.caller_attribute(), exchange);
  name.append("\n").append(key);
  exchange.Run(std::make_unique<KeyedCheck>(std::move(name), request.body, memory,
                                            routed.at.service, exchange));
}

}  // namespace sluice::frontend::http
