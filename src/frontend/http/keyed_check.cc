#include "frontend/http/keyed_check.h"

#include <memory>
#include <string>
#include <utility>

#include "frontend/http/errand.h"
#include "frontend/http/problem.h"
#include "net/event_loop.h"

namespace sluice::frontend::http {

namespace {

constexpr std::string_view kName = "Idempotency-Key";
constexpr std::string_view kOldName = "X-Idempotency-Key";
constexpr std::size_t kMostBytes = 256;

class KeyedCheck final : public Errand {
 public:
  KeyedCheck(std::string name, std::string_view body, AnswerMemory& memory,
             service::LimiterService& service, bool wait, Exchange& exchange)
      : name_(std::move(name)),
        body_(body),
        memory_(memory),
        service_(service),
        wait_(wait),
        exchange_(exchange) {}

  void Start() override {
    if (Try()) {
      exchange_.AskCheck(wait_);  // Whoever routed the request sees that it must be asked.
    }
  }

 private:
  // True if this copy is the one to be asked.
  bool Try() {
    AnswerMemory::Answer answer;
    switch (memory_.Begin(name_, body_, exchange_.Now(), answer, Again())) {
      case AnswerMemory::Found::kNothing:
        exchange_.RememberIn(memory_, name_);
        return true;
      case AnswerMemory::Found::kAnswer:
        exchange_.AnswerAsBefore(answer);
        exchange_.OnErrandDone();
        break;
      case AnswerMemory::Found::kOther:
        exchange_.AnswerProblem({.status = 422,
                                 .title = {},
                                 .detail = "this Idempotency-Key came with another body before: "
                                           "give each request a key of its own",
                                 .code = "key_reused"});
        exchange_.OnErrandDone();
        break;
      case AnswerMemory::Found::kPending:
        break;
    }
    return false;
  }

  // Tries again on this loop's thread, in a turn of its own. The exchange is not reused before.
  [[nodiscard]] std::function<void()> Again() {
    return [this, &loop = exchange_.loop()] {
      loop.Post([this] {
        if (Try()) {
          exchange_.AskCheck(wait_);
          service_.Decide(exchange_);
        }
      });
    };
  }

  const std::string name_;
  const std::string body_;
  AnswerMemory& memory_;
  service::LimiterService& service_;
  const bool wait_;
  Exchange& exchange_;
};

}  // namespace

bool IsKeyed(const wire::Http1Request& request) {
  return request.HasField(kName) || request.HasField(kOldName);
}

void SendKeyedCheck(const wire::Http1Request& request, AnswerMemory& memory,
                    service::LimiterService& service, bool wait, Exchange& exchange) {
  const bool both = request.HasField(kName) && request.HasField(kOldName);
  const std::string_view key = request.Field(request.HasField(kName) ? kName : kOldName);
  if (key.empty() || key.size() > kMostBytes || (both && request.Field(kOldName) != key)) {
    exchange.AnswerProblem({.status = 400,
                            .title = {},
                            .detail = "an Idempotency-Key is one text of 1 to 256 bytes",
                            .code = "invalid_key"});
    return;
  }
  // No part has a line feed in it.
  std::string name(exchange.peer_address());
  name.append("\n").append(request.Field("Authorization")).append("\n").append(key);
  exchange.Send(
      std::make_unique<KeyedCheck>(std::move(name), request.body, memory, service, wait, exchange));
}

}  // namespace sluice::frontend::http
