// A table against a plain map, over random histories of many keys under several rules: requests
// of one to four checks, with costs and peeks, refunds, resets, releases and sweeps between them.

#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "property/core/history.h"
#include "property/store/plain_table.h"
#include "store/table.h"
#include "support/manual_clock.h"
#include "support/soak.h"
#include "support/store_calls.h"

namespace sluice::store {
namespace {

using core::Algorithm;
using core::Draw;
using core::OneIn;
using core::Quota;
using core::Random;
using support::OwnedCheckCall;
using support::OwnedKey;

// The two whose answer is no plain count are held to their own oracles in tests/property/core/.
constexpr std::array kDrawn{Algorithm::kFixedWindow, Algorithm::kSlidingWindowLog,
                            Algorithm::kTokenBucket, Algorithm::kGcra,
                            Algorithm::kLeakyBucket, Algorithm::kConcurrency};
constexpr int kKeys = 12;  // A rule: few, so that they meet, and expire under one another.
constexpr std::uint64_t kSteps = 3'000;
constexpr std::uint64_t kHistories = 30;

struct Rule {
  std::string id;
  Quota quota;
};

Rule DrawRule(Random& random, std::size_t number) {
  static constexpr std::array<std::int64_t, 5> kWindowsMs{1, 900, 1'000, 7'000, 60'000};
  Rule rule{.id = "rule" + std::to_string(number), .quota = {}};
  Quota& quota = rule.quota;
  quota.algorithm = kDrawn[static_cast<std::size_t>(Draw(random, 0, kDrawn.size() - 1))];
  quota.limit = OneIn(random, 12) ? 0 : Draw(random, 1, OneIn(random, 4) ? 200 : 8);
  quota.window = std::chrono::milliseconds(
      kWindowsMs[static_cast<std::size_t>(Draw(random, 0, kWindowsMs.size() - 1))]);
  quota.rate = core::IsBucket(quota.algorithm) ? Draw(random, 1, 20) : 0;
  return rule;
}

class History {
 public:
  explicit History(std::uint64_t seed) : random_(seed) {
    for (std::size_t i = 0; i < 6; ++i) {
      rules_.push_back(DrawRule(random_, i));
    }
    table_ = std::move(
        *Table::Create({.path = "", .keys = 4'000, .blocks = 40'000, .huge_pages = false}, clock_));
  }

  void Run() {
    for (std::uint64_t step = 0; step < kSteps && !testing::Test::HasFailure(); ++step) {
      SCOPED_TRACE("step " + std::to_string(step));
      Wait();
      switch (Draw(random_, 0, 19)) {
        case 0:
          Refund();
          break;
        case 1:
          Reset();
          break;
        case 2:
          (void)table_->Sweep();
          break;
        case 3:
        case 4:
        case 5:
          Release();
          break;
        default:
          Ask();
          break;
      }
    }
    EXPECT_EQ(table_->Stats().evictions + table_->Stats().block_evictions, 0U);
  }

 private:
  struct Held {
    std::size_t rule;
    std::string value;
    HoldId hold;
  };

  [[nodiscard]] PlainTable::Moment Now() const {
    const base::ClockReading reading = clock_.Read();
    return {.monotonic_ns = reading.boot.count(),
            .wall_clock_ns = reading.wall_clock.time_since_epoch().count()};
  }

  void Wait() {
    static constexpr std::array<std::int64_t, 6> kGapsNs{
        1, 333'333, 50'000'000, 999'999'999, 1'000'000'000, 61'000'000'000};
    if (OneIn(random_, 3)) {
      const auto which = static_cast<std::size_t>(Draw(random_, 0, OneIn(random_, 20) ? 5 : 3));
      clock_.Advance(Duration(kGapsNs[which]));
    }
  }

  std::size_t DrawRuleNumber() {
    return static_cast<std::size_t>(Draw(random_, 0, static_cast<int>(rules_.size()) - 1));
  }
  std::string DrawValue() { return "key" + std::to_string(Draw(random_, 0, kKeys - 1)); }
  const Quota& QuotaOf(std::size_t rule) const { return rules_[rule].quota; }
  PlainTable::Key KeyOf(std::size_t rule, const std::string& value) const {
    return {rules_[rule].id, value};
  }

  void Ask() {
    OwnedCheckCall call;
    call.peek = OneIn(random_, 5);
    std::vector<std::unique_ptr<OwnedKey>> keys;
    std::vector<std::size_t> rules;
    const std::string value = DrawValue();
    for (std::size_t rule = DrawRuleNumber(); rule < rules_.size() && rules.size() < 4;
         rule += static_cast<std::size_t>(Draw(random_, 1, 3))) {
      keys.push_back(std::make_unique<OwnedKey>(value, rules_[rule].id));
      rules.push_back(rule);
      const Units cost = OneIn(random_, 8) ? 0 : Draw(random_, 1, OneIn(random_, 5) ? 10 : 2);
      call.Add({.key = keys.back()->view(), .quota = QuotaOf(rule), .cost = Cost{cost}});
    }
    // What the book says of each, and of all.
    const PlainTable::Moment now = Now();
    std::vector<Units> left;
    std::vector<bool> allows;
    bool all = true;
    for (std::size_t i = 0; i < rules.size(); ++i) {
      const Quota& quota = QuotaOf(rules[i]);
      left.push_back(plain_.Remaining(KeyOf(rules[i], value), quota, now));
      allows.push_back(quota.limit > 0 && call.checks[i].cost.units <= left[i]);
      all = all && allows[i];
    }
    const std::array<CheckCall*, 1> batch{&call};
    table_->CheckMany(batch);
    for (std::size_t i = 0; i < rules.size(); ++i) {
      const Quota& quota = QuotaOf(rules[i]);
      SCOPED_TRACE(core::NameOf(quota.algorithm));
      const CheckAnswer& answer = call.answers[i];
      const Units cost = call.checks[i].cost.units;
      const bool charged = all && !call.peek && cost > 0;
      ASSERT_EQ(answer.decision.allowed, allows[i]);
      ASSERT_EQ(answer.charged, charged);
      ASSERT_EQ(answer.decision.remaining, left[i] - (charged ? cost : 0));
      ASSERT_EQ(answer.decision.retry_after == Decision::kNever,
                cost > quota.limit || quota.limit == 0);
      if (charged) {
        plain_.Charge(KeyOf(rules[i], value), quota, now, cost, answer.hold);
      }
      if (answer.hold != 0) {
        holds_.push_back({.rule = rules[i], .value = value, .hold = answer.hold});
      }
    }
  }

  void Refund() {
    const std::size_t rule = DrawRuleNumber();
    if (QuotaOf(rule).algorithm == Algorithm::kConcurrency) {
      return;
    }
    const std::string value = DrawValue();
    const OwnedKey key(value, rules_[rule].id);
    support::Answered<RefundCall> call;
    call.key = key.view();
    call.quota = QuotaOf(rule);
    call.units = Draw(random_, 1, 6);
    table_->Refund(call);
    ASSERT_EQ(call.error, StoreError::kNone);
    plain_.Refund(KeyOf(rule, value), QuotaOf(rule), Now(), call.units);
  }

  void Reset() {
    const std::size_t rule = DrawRuleNumber();
    const std::string value = DrawValue();
    const OwnedKey key(value, rules_[rule].id);
    support::Answered<ResetCall> call;
    call.key = key.view();
    call.quota = QuotaOf(rule);
    table_->Reset(call);
    ASSERT_EQ(call.error, StoreError::kNone);
    plain_.Reset(KeyOf(rule, value));
  }

  // A hold that was granted once; it may be over, released, or reset away.
  void Release() {
    if (holds_.empty()) {
      return;
    }
    const Held& held = holds_[static_cast<std::size_t>(
        Draw(random_, 0, static_cast<std::int64_t>(holds_.size()) - 1))];
    const OwnedKey key(held.value, rules_[held.rule].id);
    support::Answered<HoldCall> call;
    call.key = key.view();
    call.quota = QuotaOf(held.rule);
    call.hold = held.hold;
    table_->Release(call);
    const bool live =
        plain_.Release(KeyOf(held.rule, held.value), QuotaOf(held.rule), Now(), held.hold);
    ASSERT_EQ(call.error, live ? StoreError::kNone : StoreError::kNotFound);
  }

  Random random_;
  support::ManualClock clock_;
  std::vector<Rule> rules_;
  std::unique_ptr<Table> table_;
  PlainTable plain_;
  std::vector<Held> holds_;
};

TEST(TableProperty, IsAPlainMapThatForgetsNothing) {
  for (std::uint64_t seed = 1; seed <= kHistories * support::SoakFactor() && !HasFailure();
       ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    History(seed).Run();
  }
}

}  // namespace
}  // namespace sluice::store
