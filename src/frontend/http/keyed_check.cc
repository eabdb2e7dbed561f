#include "frontend/http/keyed_check.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "frontend/http/operation.h"
#include "frontend/http/problem.h"
#include "idempotency/keyed_request.h"

namespace sluice::frontend::http {

namespace {

constexpr std::string_view kName = "Idempotency-Key";
constexpr std::string_view kOldName = "X-Idempotency-Key";
constexpr std::size_t kMostBytes = 256;

class KeyedCheck final : public Operation {
 public:
  KeyedCheck(std::string name, std::string_view body, idempotency::AnswerMemory& memory,
             service::LimiterService& service, bool wait, Exchange& exchange)
      : memory_(memory),
        service_(service),
        wait_(wait),
        exchange_(exchange),
        request_(
            exchange.loop(), memory, std::move(name), body,
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

  // The last thing done with this, if not in Start().
  void OnKnown(Outcome outcome, const idempotency::AnswerMemory::Answer& answer) {
    switch (outcome) {
      case Outcome::kDecide:
        exchange_.RememberIn(memory_, request_.name());
        exchange_.AskCheck(wait_);
        if (!starts_) {  // Else whoever routed the request sees that it must be asked.
          service_.Decide(exchange_);
        }
        return;
      case Outcome::kRepeat:
        exchange_.AnswerAsBefore(answer);
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
    exchange_.OnOperationDone();
  }

  idempotency::AnswerMemory& memory_;
  service::LimiterService& service_;
  const bool wait_;
  Exchange& exchange_;
  bool starts_ = false;
  idempotency::KeyedRequest request_;
};

// Whose key it is: by the attribute that the configuration names, else by the credential, else by
// the address. A caller that is known by more than its address may send again from anywhere. An
// attribute may have any bytes in it, so its size stands before it; no other part has a line feed.
std::string CallerOf(const wire::HttpRequest& request, std::string_view attribute,
                     const Exchange& exchange) {
  if (!attribute.empty()) {
    const auto given = std::ranges::find(exchange.attributes, attribute, &Attribute::name);
    if (given != exchange.attributes.end()) {
      return "attribute " + std::to_string(given->value.size()) + " " + std::string(given->value);
    }
  }
  if (const std::string_view credential = request.Field("Authorization"); !credential.empty()) {
    return "credential " + std::string(credential);
  }
  return "address " + std::string(exchange.peer_address());
}

}  // namespace

void SendKeyedCheck(const wire::HttpRequest& request, idempotency::AnswerMemory& memory,
                    service::LimiterService& service, bool wait, Exchange& exchange) {
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
  exchange.Send(
      std::make_unique<KeyedCheck>(std::move(name), request.body, memory, service, wait, exchange));
}

}  // namespace sluice::frontend::http
