#include "frontend/http/keyed_check.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include "frontend/http/operation.h"
#include "frontend/http/problem.h"
#include "net/event_loop.h"

namespace sluice::frontend::http {

namespace {

constexpr std::string_view kName = "Idempotency-Key";
constexpr std::string_view kOldName = "X-Idempotency-Key";
constexpr std::size_t kMostBytes = 256;

// How often a check that another node is just deciding is asked for: at first, and in the end.
constexpr Duration kFirstPause = std::chrono::milliseconds(2);
constexpr Duration kLongestPause = std::chrono::milliseconds(100);

class KeyedCheck final : public Operation {
 public:
  KeyedCheck(std::string name, std::string_view body, AnswerMemory& memory,
             service::LimiterService& service, bool wait, Exchange& exchange)
      : name_(std::move(name)),
        body_(body),
        memory_(memory),
        service_(service),
        wait_(wait),
        exchange_(exchange),
        claim_(*this),
        claim_again_([this] { ClaimAgain(); }) {}

  void Start() override {
    starts_ = true;
    Try();
    starts_ = false;
  }

 private:
  // Among the nodes that share a store.
  class Claim final : public store::RecordCall {
   public:
    explicit Claim(KeyedCheck& check) : check_(check) {}
    void OnAnswered() noexcept override { check_.OnClaimed(); }

   private:
    KeyedCheck& check_;
  };

  void Try() {
    AnswerMemory::Answer answer;
    const auto found = memory_.Begin(name_, body_, exchange_.Now(), answer, Again());
    if (found == AnswerMemory::Found::kNothing && memory_.shared() != nullptr) {
      memory_.PrepareClaim(name_, body_, claim_);
      memory_.shared()->Claim(claim_);
    } else if (found != AnswerMemory::Found::kPending) {
      Go(found, answer);
    }
  }

  // No node but this one may be deciding it now. The last thing done with this, if not in Start().
  void Go(AnswerMemory::Found found, const AnswerMemory::Answer& answer) {
    if (found == AnswerMemory::Found::kNothing) {
      exchange_.RememberIn(memory_, name_);
      exchange_.AskCheck(wait_);
      if (!starts_) {  // Else whoever routed the request sees that it must be asked.
        service_.Decide(exchange_);
      }
      return;
    }
    if (found == AnswerMemory::Found::kAnswer) {
      exchange_.AnswerAsBefore(answer);
    } else {
      exchange_.AnswerProblem({.status = 422,
                               .title = {},
                               .detail = "this Idempotency-Key was used with another body: "
                                         "use a new key for each request",
                               .code = "key_reused"});
    }
    exchange_.OnOperationDone();
  }

  void OnClaimed() {
    AnswerMemory::Answer answer;
    const auto found = memory_.TakeClaim(claim_, answer);
    if (found == AnswerMemory::Found::kPending) {
      exchange_.loop().ArmAfter(claim_again_, pause_, net::TimerPrecision::kExact);
      pause_ = std::min(2 * pause_, kLongestPause);
      return;
    }
    if (found != AnswerMemory::Found::kNothing) {
      memory_.Release(name_);
    }
    Go(found, answer);
  }

  void ClaimAgain() {
    if (!exchange_.abandoned()) {
      memory_.shared()->Claim(claim_);
      return;
    }
    memory_.Release(name_);  // Another copy may go on with it.
    exchange_.AnswerText(503, "", "");
    exchange_.OnOperationDone();
  }

  // Tries again on this loop's thread, in a turn of its own. The exchange is not reused before.
  [[nodiscard]] std::function<void()> Again() {
    return [this, &loop = exchange_.loop()] { loop.Post([this] { Try(); }); };
  }

  const std::string name_;
  const std::string body_;
  AnswerMemory& memory_;
  service::LimiterService& service_;
  const bool wait_;
  Exchange& exchange_;
  bool starts_ = false;
  Claim claim_;
  Duration pause_ = kFirstPause;
  net::Timer claim_again_;
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

void SendKeyedCheck(const wire::HttpRequest& request, AnswerMemory& memory,
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
