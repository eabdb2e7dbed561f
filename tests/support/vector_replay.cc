#include "support/vector_replay.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/store_calls.h"

namespace sluice::support {

namespace {

using Verb = VectorStep::Verb;

class Player {
 public:
  Player(const VectorCase& vectors, const VectorStore& to, const std::string& key_text)
      : vectors_(vectors),
        to_(to),
        key_(key_text),
        neighbour_(key_text, "neighbour"),
        settles_(vectors.Has(Verb::kSettle)) {}

  void Play() {
    Duration at{};
    for (const VectorStep& step : vectors_.steps) {
      SCOPED_TRACE(vectors_.PlaceOf(step));
      to_.clock.Advance(step.at - at);
      at = step.at;
      Do(step);
    }
  }

 private:
  void Do(const VectorStep& step) {
    switch (step.verb) {
      case Verb::kCheck:
      case Verb::kPeek:
        return Check(step);
      case Verb::kRefund:
        return Refund(step);
      case Verb::kSettle:
        return Settle(step);
      case Verb::kReset:
        return Reset(step);
      case Verb::kRelease:
        return Hold(step, &store::KeyStore::Release);
      case Verb::kRenew:
        return Hold(step, &store::KeyStore::Renew);
      case Verb::kStep:
        return to_.clock.StepWallClock(step.step);
    }
  }

  void Check(const VectorStep& step) {
    const bool holds = core::HasHolds(step.quota.algorithm);
    OwnedCheckCall call;
    call.peek = step.verb == Verb::kPeek;
    call.Add({.key = key_.view(),
              .quota = step.quota,
              .cost = {step.units},
              .want_receipt = settles_ && !holds,
              .sync = to_.sync});
    if (to_.in_company) {
      // Never denied, and of no cost: the answers stay those of one check alone.
      call.Add({.key = neighbour_.view(),
                .quota = QuotaOf(core::Algorithm::kFixedWindow, kMaxUnits),
                .cost = {0},
                .sync = to_.sync});
      // All or nothing, a denial is not counted, which of an attempt window it otherwise is.
      call.atomicity = core::ChargesDenials(step.quota.algorithm) ? store::Atomicity::kEach
                                                                  : store::Atomicity::kAll;
    }
    Send(to_.store, call);
    Finish(call);
    const store::CheckAnswer& answer = call.own_answers[0];
    ASSERT_EQ(answer.error, store::StoreError::kNone);
    ExpectDecision(answer.decision, step.decision);
    const bool counted = step.decision.allowed || core::ChargesDenials(step.quota.algorithm);
    EXPECT_EQ(answer.charged, counted && !call.peek && step.units > 0 && !step.quota.unlimited);
    if (!call.peek) {
      checks_.push_back({.quota = step.quota, .units = step.units, .answer = answer});
    }
  }

  void ExpectDecision(const Decision& decision, const Decision& wanted) const {
    EXPECT_EQ(decision.allowed, wanted.allowed);
    EXPECT_EQ(decision.reason, wanted.reason);
    EXPECT_EQ(decision.limit, wanted.limit);
    EXPECT_EQ(decision.remaining, wanted.remaining);
    EXPECT_EQ(decision.retry_after, RoundedUp(wanted.retry_after));
    EXPECT_EQ(decision.reset_after, RoundedUp(wanted.reset_after));
    EXPECT_EQ(decision.wait, RoundedUp(wanted.wait));
    EXPECT_FALSE(decision.degraded);
  }

  [[nodiscard]] Duration RoundedUp(Duration wait) const {
    const std::int64_t unit = to_.resolution.count();
    return wait >= Decision::kUnknown ? wait : Duration((wait.count() + unit - 1) / unit * unit);
  }

  void Refund(const VectorStep& step) {
    Answered<store::RefundCall> call;
    call.key = key_.view();
    call.quota = step.quota;
    call.units = step.units;
    call.sync = to_.sync;
    to_.store.Refund(call);
    Finish(call);
  }

  void Settle(const VectorStep& step) {
    const Asked& asked = checks_.at(step.of);
    Answered<store::SettleCall> call;
    call.key = key_.view();
    call.quota = asked.quota;
    call.receipt = asked.answer.receipt;
    call.charged = asked.units;
    call.units = step.units;
    call.sync = to_.sync;
    to_.store.Settle(call);
    Finish(call);
    EXPECT_EQ(call.settled, step.settled);
  }

  void Reset(const VectorStep& step) {
    Answered<store::ResetCall> call;
    call.key = key_.view();
    call.quota = step.quota;
    call.has_receipts = settles_;
    call.sync = to_.sync;
    to_.store.Reset(call);
    Finish(call);
  }

  void Hold(const VectorStep& step, void (store::KeyStore::*verb)(store::HoldCall&)) {
    Answered<store::HoldCall> call;
    call.key = key_.view();
    call.quota = step.quota;
    call.hold = checks_.at(step.of).answer.hold;
    (to_.store.*verb)(call);
    Await(call);
    EXPECT_EQ(call.error, step.found ? store::StoreError::kNone : store::StoreError::kNotFound);
  }

  template <class Call>
  void Await(const Call& call) const {
    if (to_.pump) {
      to_.pump();
    }
    ASSERT_EQ(call.answers_got, 1);
  }
  template <class Call>
  void Finish(const Call& call) const {
    Await(call);
    EXPECT_EQ(call.error, store::StoreError::kNone);
  }

  struct Asked {
    core::Quota quota;
    Units units = 0;
    store::CheckAnswer answer;
  };

  const VectorCase& vectors_;
  const VectorStore& to_;
  const OwnedKey key_;
  const OwnedKey neighbour_;
  const bool settles_;
  std::vector<Asked> checks_;
};

}  // namespace

void SetClock(ManualClock& clock, const VectorCase& vectors) {
  clock.StepWallClock(vectors.start - clock.Read().wall_clock);
}

void PlayVectors(const VectorCase& vectors, const VectorStore& to, const std::string& key_text) {
  Player(vectors, to, key_text).Play();
}

}  // namespace sluice::support
