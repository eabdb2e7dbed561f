#include "idempotency/keyed_request.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "net/event_loop.h"

namespace sluice::idempotency {

namespace {

// How often a request that another node is just deciding is claimed: at first, and in the end.
constexpr Duration kFirstPause = std::chrono::milliseconds(2);
constexpr Duration kLongestPause = std::chrono::milliseconds(100);

}  // namespace

KeyedRequest::KeyedRequest(net::EventLoop& loop, AnswerMemory& memory, std::string name,
                           std::string_view body, Owner owner)
    : loop_(loop),
      memory_(memory),
      name_(std::move(name)),
      body_(body),
      owner_(std::move(owner)),
      claim_(*this),
      pause_(kFirstPause),
      claim_again_([this] { ClaimAgain(); }) {}

void KeyedRequest::Begin() {
  AnswerMemory::Answer answer;
  // A copy that waited starts again on this loop's thread, in a separate turn.
  const auto found = memory_.Begin(name_, body_, owner_.now(), answer,
                                   [this] { loop_.Post([this] { Begin(); }); });
  if (found == AnswerMemory::Found::kNothing && memory_.shared() != nullptr) {
    memory_.PrepareClaim(name_, body_, claim_);
    memory_.shared()->Claim(claim_);
  } else if (found != AnswerMemory::Found::kPending) {
    Finish(found, answer);
  }
}

void KeyedRequest::OnClaimed() {
  AnswerMemory::Answer answer;
  const auto found = memory_.TakeClaim(claim_, answer);
  if (found == AnswerMemory::Found::kPending) {
    loop_.ArmAfter(claim_again_, pause_, net::TimerPrecision::kExact);
    pause_ = std::min(2 * pause_, kLongestPause);
    return;
  }
  if (found != AnswerMemory::Found::kNothing) {
    memory_.Release(name_);
  }
  Finish(found, answer);
}

void KeyedRequest::ClaimAgain() {
  if (!owner_.is_abandoned()) {
    memory_.shared()->Claim(claim_);
    return;
  }
  memory_.Release(name_);
  End(Outcome::kAbandoned, {});
}

void KeyedRequest::Finish(AnswerMemory::Found found, const AnswerMemory::Answer& answer) {
  End(found == AnswerMemory::Found::kNothing  ? Outcome::kDecide
      : found == AnswerMemory::Found::kAnswer ? Outcome::kRepeat
                                              : Outcome::kOtherBody,
      answer);
}

void KeyedRequest::End(Outcome outcome, const AnswerMemory::Answer& answer) {
  const auto on_known = std::move(owner_.on_known);  // It may destroy this.
  on_known(outcome, answer);
}

}  // namespace sluice::idempotency
