#include <array>
#include <atomic>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "store/table.h"
#include "support/manual_clock.h"
#include "support/soak.h"
#include "support/store_calls.h"

// A table that is far too small for the random keys that come: fifty thousand in an everyday run,
// a million and more in a soak.
namespace sluice::store {
namespace {

using core::Algorithm;
using support::Ask;
using support::QuotaOf;

class FloodProperty : public ::testing::TestWithParam<WhenFull> {};

// Two threads flood; a third uses a hot key, more often than its quota allows. It gets its quota
// to the unit, the flood gets what the policy says, and each that got no room is counted.
TEST_P(FloodProperty, RandomKeysLeaveAHotKeyExact) {
  const int flood_keys = support::SoakFactor() == 1 ? 50'000 : 1'000'000;
  constexpr std::uint64_t kRoom = 10'000;
  const support::ManualClock clock;
  const auto table = std::move(*Table::Create(
      {.path = "", .keys = kRoom, .when_full = GetParam(), .huge_pages = false}, clock));
  const core::Quota quota = QuotaOf(Algorithm::kGcra, 1000);
  // The hot key is hot before the table is full, however the threads are scheduled, and used
  // throughout.
  int granted = 0;
  int asked = 0;
  for (; asked < 100; ++asked) {
    granted += Ask(*table, "hot", quota).charged ? 1 : 0;
  }
  std::atomic<int> flooding{2};
  std::atomic<std::uint64_t> denied{0};
  std::atomic<std::uint64_t> degraded{0};
  std::atomic<std::uint64_t> charged{0};
  std::vector<std::thread> flood;
  for (unsigned thread = 0; thread < 2; ++thread) {
    flood.emplace_back([&, thread] {
      std::mt19937_64 random(thread);
      for (int i = 0; i < flood_keys / 2; ++i) {
        const CheckAnswer answer = Ask(*table, std::to_string(random()), quota);
        denied += answer.decision.reason == Reason::kStoreFull ? 1U : 0U;
        degraded += answer.decision.degraded ? 1U : 0U;
        charged += answer.charged ? 1U : 0U;
      }
      --flooding;
    });
  }
  for (; flooding > 0 || asked < 1100; ++asked) {
    granted += Ask(*table, "hot", quota).charged ? 1 : 0;
  }
  for (std::thread& thread : flood) {
    thread.join();
  }
  EXPECT_EQ(granted, 1000) << "of " << asked;
  const TableStats stats = table->Stats();
  EXPECT_EQ(stats.full_denials, denied);
  EXPECT_EQ(stats.full_allows, degraded);
  EXPECT_EQ(charged + denied + degraded, static_cast<std::uint64_t>(flood_keys));
  EXPECT_EQ(stats.inserts, charged + 1);
  EXPECT_GT(stats.live_slots, kRoom);  // A quarter more slots than keys, and all of them used.
  switch (GetParam()) {
    case WhenFull::kEvict:
      // A newcomer gives up where others were faster at each of its tries.
      EXPECT_LT(denied + degraded, static_cast<std::uint64_t>(flood_keys) / 1000);
      EXPECT_GE(stats.evictions, charged - stats.slots);
      break;
    case WhenFull::kDeny:
      EXPECT_EQ(degraded + stats.evictions, 0U);
      EXPECT_GE(denied + stats.slots, static_cast<std::uint64_t>(flood_keys));
      break;
    case WhenFull::kAllow:
      EXPECT_EQ(denied + stats.evictions, 0U);
      EXPECT_GE(degraded + stats.slots, static_cast<std::uint64_t>(flood_keys));
      break;
  }
}

INSTANTIATE_TEST_SUITE_P(Policies, FloodProperty,
                         ::testing::Values(WhenFull::kEvict, WhenFull::kDeny, WhenFull::kAllow),
                         [](const auto& tested) {
                           switch (tested.param) {
                             case WhenFull::kEvict:
                               return "Evict";
                             case WhenFull::kDeny:
                               return "Deny";
                             default:
                               return "Allow";
                           }
                         });

}  // namespace
}  // namespace sluice::store
