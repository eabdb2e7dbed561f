#include <chrono>
#include <functional>
#include <memory>
#include <utility>

#include <gtest/gtest.h>

#include "store/refund.h"
#include "store/table.h"
#include "support/manual_clock.h"
#include "support/store_calls.h"

namespace sluice::store {
namespace {

using support::OwnedKey;

// Runs a function right behind the next reading of the clock: what another thread does after the
// caller has read its time, and before it goes on.
class InterruptedClock final : public base::Clock {
 public:
  explicit InterruptedClock(support::ManualClock& clock) : clock_(clock) {}
  void AfterNextReading(std::function<void()> run) { run_ = std::move(run); }

  [[nodiscard]] base::ClockReading Read() const override {
    const base::ClockReading reading = clock_.Read();
    if (const auto run = std::exchange(run_, nullptr)) {
      run();
    }
    return reading;
  }

 private:
  support::ManualClock& clock_;
  mutable std::function<void()> run_;
};

class ResetTest : public testing::TestWithParam<core::Algorithm> {
 protected:
  void SetUp() override {
    auto created = Table::Create({.path = {}, .keys = 1000, .huge_pages = false}, clock_);
    ASSERT_TRUE(created.has_value());
    table_ = *std::move(created);
  }

  CheckAnswer Charge(const core::KeyView& key, Units units) {
    support::OwnedCheckCall call;
    call.Add({.key = key, .quota = quota_, .cost = Cost{units}, .want_receipt = true});
    support::Send(*table_, call);
    return call.own_answers[0];
  }
  void Reset(const core::KeyView& key) {
    support::Answered<ResetCall> call;
    call.key = key;
    call.quota = quota_;
    table_->Reset(call);
    EXPECT_EQ(call.error, StoreError::kNone);
  }
  void GiveBack(const core::KeyView& key, const Receipt& receipt, Units units) {
    support::Answered<SettleCall> call;
    call.key = key;
    call.quota = quota_;
    call.receipt = receipt;
    call.charged = units;
    table_->Settle(call);
    EXPECT_EQ(call.error, StoreError::kNone);
  }

  support::ManualClock manual_clock_;
  InterruptedClock clock_{manual_clock_};
  std::unique_ptr<Table> table_;
  core::Quota quota_ = support::QuotaOf(GetParam(), 10);
};

INSTANTIATE_TEST_SUITE_P(Algorithms, ResetTest,
                         testing::Values(core::Algorithm::kGcra, core::Algorithm::kFixedWindow,
                                         core::Algorithm::kSlidingWindowLog));

// The reset reads the clock, another thread charges the key at a later time, and only then does the
// reset get the key's lock. The charge comes before the reset, whatever the times say.
TEST_P(ResetTest, AChargeBetweenTheResetsFirstReadingAndItsLockIsFromBeforeTheReset) {
  for (const bool renamed : {false, true}) {
    SCOPED_TRACE(renamed);
    const OwnedKey key = renamed ? OwnedKey("renamed", "new", "old") : OwnedKey("key");
    ASSERT_TRUE(Charge(key.view(), 1).decision.allowed);
    CheckAnswer before;
    clock_.AfterNextReading([&] {
      manual_clock_.Advance(std::chrono::microseconds(5));
      before = Charge(key.view(), 6);
      manual_clock_.Advance(std::chrono::microseconds(5));
    });
    Reset(key.view());
    ASSERT_TRUE(before.decision.allowed);
    manual_clock_.Advance(std::chrono::microseconds(5));
    EXPECT_EQ(Charge(key.view(), 7).decision.remaining, 3);
    GiveBack(key.view(), before.receipt, 6);
    EXPECT_EQ(Charge(key.view(), 0).decision.remaining, 3);
  }
}

}  // namespace
}  // namespace sluice::store
