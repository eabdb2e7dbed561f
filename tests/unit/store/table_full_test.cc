#include <array>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "store/table.h"
#include "support/manual_clock.h"
#include "support/store_calls.h"

namespace sluice::store {
namespace {

using core::Algorithm;
using support::OwnedCheckCall;
using support::OwnedKey;
using support::QuotaOf;

constexpr int kFlood = 100'000;

class Flooded {
 public:
  explicit Flooded(WhenFull when_full, std::uint64_t keys = 10'000, std::uint64_t blocks = 0)
      : table_(std::move(*Table::Create({.path = "",
                                         .keys = keys,
                                         .blocks = blocks,
                                         .when_full = when_full,
                                         .huge_pages = false},
                                        clock_))) {}

  CheckAnswer Ask(const std::string& text, const core::Quota& quota) {
    const OwnedKey key(text);
    OwnedCheckCall call;
    call.Add({.key = key.view(), .quota = quota, .cost = {}});
    const std::array<CheckCall*, 1> batch{&call};
    table_->CheckMany(batch);
    return call.own_answers[0];
  }
  Table& table() { return *table_; }
  support::ManualClock& clock() { return clock_; }

 private:
  support::ManualClock clock_;
  std::unique_ptr<Table> table_;
};

// A hot key among the flood, used once in fifty: exact throughout, whatever the policy.
int HotGrants(Flooded& flooded, const core::Quota& flood, int* flood_denied, int* degraded) {
  const core::Quota hot = QuotaOf(Algorithm::kGcra, 1000);
  int granted = 0;
  for (int i = 0; i < kFlood; ++i) {
    if (i % 50 == 0) {
      granted += flooded.Ask("hot", hot).charged ? 1 : 0;
    }
    const CheckAnswer answer = flooded.Ask("flood" + std::to_string(i), flood);
    *flood_denied += answer.decision.reason == Reason::kStoreFull ? 1 : 0;
    *degraded += answer.decision.degraded ? 1 : 0;
  }
  return granted;
}

TEST(TableFullTest, EvictTakesTheKeyNearestToFreshAndSparesTheHotOne) {
  Flooded flooded(WhenFull::kEvict);
  int denied = 0;
  int degraded = 0;
  EXPECT_EQ(HotGrants(flooded, QuotaOf(Algorithm::kGcra, 10), &denied, &degraded), 1000);
  EXPECT_EQ(denied, 0);
  EXPECT_EQ(degraded, 0);
  EXPECT_GT(flooded.table().Stats().evictions, 80'000U);
}

TEST(TableFullTest, EvictSparesTheHotKeyAlsoWhenAllExpireTogether) {
  Flooded flooded(WhenFull::kEvict);
  const core::Quota window = QuotaOf(Algorithm::kFixedWindow, 1000);
  int granted = 0;
  for (int i = 0; i < kFlood; ++i) {
    if (i % 10 == 0) {
      granted += flooded.Ask("hot", window).charged ? 1 : 0;
    }
    (void)flooded.Ask("flood" + std::to_string(i), window);
  }
  EXPECT_EQ(granted, 1000);
}

TEST(TableFullTest, DenyRefusesNewKeysAndKeepsTheOld) {
  Flooded flooded(WhenFull::kDeny);
  int denied = 0;
  int degraded = 0;
  EXPECT_EQ(HotGrants(flooded, QuotaOf(Algorithm::kGcra, 10), &denied, &degraded), 1000);
  EXPECT_GT(denied, 80'000);
  EXPECT_EQ(degraded, 0);
  const TableStats stats = flooded.table().Stats();
  EXPECT_EQ(stats.evictions, 0U);
  EXPECT_EQ(stats.full_denials, static_cast<std::uint64_t>(denied));
  EXPECT_GE(flooded.Ask("flood0", QuotaOf(Algorithm::kGcra, 10)).decision.remaining, 8);
}

TEST(TableFullTest, AllowLetsNewKeysPassUnmetered) {
  Flooded flooded(WhenFull::kAllow);
  int denied = 0;
  int degraded = 0;
  EXPECT_EQ(HotGrants(flooded, QuotaOf(Algorithm::kGcra, 10), &denied, &degraded), 1000);
  EXPECT_EQ(denied, 0);
  EXPECT_GT(degraded, 80'000);
  EXPECT_EQ(flooded.table().Stats().full_allows, static_cast<std::uint64_t>(degraded));
}

TEST(TableFullTest, AFullTableHasRoomAgainWhenItsKeysAreFresh) {
  Flooded flooded(WhenFull::kDeny, 1000);
  const core::Quota quota = QuotaOf(Algorithm::kGcra, 1);
  int passed = 0;
  for (int i = 0; i < 5000; ++i) {
    passed += flooded.Ask(std::to_string(i), quota).decision.allowed ? 1 : 0;
  }
  EXPECT_LT(passed, 2000);
  flooded.clock().Advance(std::chrono::hours(1));
  EXPECT_TRUE(flooded.Ask("4999", quota).decision.allowed);
  EXPECT_GE(flooded.table().Sweep(), 900U);
  EXPECT_EQ(flooded.table().Stats().live_slots, 1U);
}

TEST(TableFullTest, AFullBlockPoolFollowsThePolicy) {
  for (const WhenFull when_full : {WhenFull::kEvict, WhenFull::kDeny, WhenFull::kAllow}) {
    Flooded flooded(when_full, 1000, 50);
    const core::Quota log = QuotaOf(Algorithm::kSlidingWindowLog, 3);
    int denied = 0;
    int degraded = 0;
    for (int i = 0; i < 200; ++i) {
      const CheckAnswer answer = flooded.Ask(std::to_string(i), log);
      denied += answer.decision.reason == Reason::kStoreFull ? 1 : 0;
      degraded += answer.decision.degraded ? 1 : 0;
    }
    const TableStats stats = flooded.table().Stats();
    EXPECT_LE(stats.blocks_in_use, 50U);
    EXPECT_EQ(denied, when_full == WhenFull::kDeny ? 150 : 0);
    EXPECT_EQ(degraded, when_full == WhenFull::kAllow ? 150 : 0);
    EXPECT_EQ(stats.block_evictions, when_full == WhenFull::kEvict ? 150U : 0U);
    // What is over gives its blocks back to whoever comes next.
    flooded.clock().Advance(std::chrono::hours(2));
    EXPECT_TRUE(flooded.Ask("new", log).charged);
    flooded.clock().Advance(std::chrono::hours(2));
    (void)flooded.table().Sweep();
    EXPECT_EQ(flooded.table().Stats().blocks_in_use, 0U);
  }
}

// Twenty blocks of one key are one key: its heat is not halved for each of them.
TEST(TableFullTest, AHotKeyOfManyBlocksIsSparedWhole) {
  Flooded flooded(WhenFull::kEvict, 1000, 50);
  const core::Quota hot = QuotaOf(Algorithm::kSlidingWindowLog, 140);
  for (int i = 0; i < 140; ++i) {
    flooded.clock().Advance(Duration(1));
    EXPECT_TRUE(flooded.Ask("hot", hot).charged);
  }
  core::Quota longer = QuotaOf(Algorithm::kSlidingWindowLog, 3);
  longer.window = std::chrono::hours(2);
  for (int i = 0; i < 200; ++i) {
    EXPECT_TRUE(flooded.Ask(std::to_string(i), longer).charged);
    for (int j = 0; j < 5; ++j) {
      ASSERT_FALSE(flooded.Ask("hot", hot).decision.allowed) << i;
    }
  }
}

// The mark of a reset finds no room: nothing is reset, and the caller gets an error.
TEST(TableFullTest, WithoutRoomForItsMarkNothingIsReset) {
  Flooded full(WhenFull::kDeny, 100);
  const core::Quota quota = QuotaOf(Algorithm::kGcra, 10);
  ASSERT_TRUE(full.Ask("reset", quota).charged);
  // Enough to fill each slot, wherever the table's secret puts keys.
  for (int i = 0; i < 20'000; ++i) {
    (void)full.Ask("flood" + std::to_string(i), quota);
  }
  const OwnedKey key("reset");
  support::Answered<ResetCall> reset;
  reset.key = key.view();
  reset.quota = quota;
  full.table().Reset(reset);
  EXPECT_EQ(reset.error, StoreError::kUnavailable);
  EXPECT_EQ(full.Ask("reset", quota).decision.remaining, 8);
  full.clock().Advance(std::chrono::hours(1));  // The flood is over.
  ASSERT_TRUE(full.Ask("reset", quota).charged);
  full.table().Reset(reset);
  EXPECT_EQ(reset.error, StoreError::kNone);
  EXPECT_EQ(full.Ask("reset", quota).decision.remaining, 9);
}

}  // namespace
}  // namespace sluice::store
