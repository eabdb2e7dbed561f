#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "sluice/time.h"

#include "idempotency/answer_memory.h"
#include "net/timer_wheel.h"
#include "store/answer_records.h"

namespace sluice::net {
class EventLoop;
}  // namespace sluice::net

namespace sluice::idempotency {

// One request with a key, until it is known what becomes of it. Of several copies that come
// together, here or at nodes that share a store, one is decided; the others wait for its answer.
// One thread: the loop's.
class KeyedRequest {
 public:
  enum class Outcome : std::uint8_t {
    kDecide,     // Decide it; then AnswerMemory::Keep() or Drop().
    kRepeat,     // It was answered before: `answer`.
    kOtherBody,  // The key was used with another body.
    kAbandoned,  // No caller waits for it any more, and another copy may continue.
  };
  struct Owner {
    // Once. It may destroy the request. `answer` is that of kRepeat.
    std::function<void(Outcome, const AnswerMemory::Answer& answer)> on_known;
    std::function<bool()> is_abandoned;
    std::function<Duration()> now;  // Of any clock that does not step back.
  };

  // `name` is caller and key, `body` what is asked. `loop` and `memory` outlive it.
  KeyedRequest(net::EventLoop& loop, AnswerMemory& memory, std::string name, std::string_view body,
               Owner owner);
  KeyedRequest(const KeyedRequest&) = delete;
  KeyedRequest& operator=(const KeyedRequest&) = delete;

  // Calls on_known during this or later. Not destroyed before that.
  void Begin();

  [[nodiscard]] const std::string& name() const { return name_; }

 private:
  // Among the nodes that share a store.
  class Claim final : public store::RecordCall {
   public:
    explicit Claim(KeyedRequest& request) : request_(request) {}
    void OnAnswered() noexcept override { request_.OnClaimed(); }

   private:
    KeyedRequest& request_;
  };

  void OnClaimed();
  void ClaimAgain();
  // No node but this one may be deciding it now.
  void Finish(AnswerMemory::Found found, const AnswerMemory::Answer& answer);
  void End(Outcome outcome, const AnswerMemory::Answer& answer);

  net::EventLoop& loop_;
  AnswerMemory& memory_;
  const std::string name_;
  const std::string body_;
  Owner owner_;
  Claim claim_;
  Duration pause_;
  net::Timer claim_again_;
};

}  // namespace sluice::idempotency
