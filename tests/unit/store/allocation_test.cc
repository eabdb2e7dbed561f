#include <array>
#include <cstdint>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "store/table.h"
#include "support/counted_new.h"
#include "support/manual_clock.h"
#include "support/store_calls.h"

namespace sluice::store {
namespace {

class AllocationTest : public ::testing::TestWithParam<core::Algorithm> {};

TEST_P(AllocationTest, ADecisionAllocatesNothing) {
  support::ManualClock clock;
  const std::unique_ptr<Table> table = std::move(
      *Table::Create({.path = "", .keys = 1000, .blocks = 1000, .huge_pages = false}, clock));
  core::Quota quota;
  quota.algorithm = GetParam();
  quota.limit = 50;
  quota.rate = core::IsBucket(GetParam()) ? 50 : 0;
  quota.window = std::chrono::seconds(1);
  const support::OwnedKey key("a key of a length that no small string holds");
  const support::OwnedKey other("another key of a length that no small string holds");
  support::OwnedCheckCall one;
  one.Add({.key = key.view(), .quota = quota, .cost = {}});
  support::OwnedCheckCall two;
  two.Add({.key = key.view(), .quota = quota, .cost = {}});
  two.Add({.key = other.view(), .quota = quota, .cost = {}});
  support::Answered<HoldCall> release;
  release.key = key.view();
  release.quota = quota;
  const std::array<CheckCall*, 2> batch{&one, &two};
  table->CheckMany(batch);  // The thread's lease, once.
  const std::int64_t before = support::AllocationsOfThisThread();
  for (int i = 0; i < 500; ++i) {
    table->CheckMany(batch);
    release.hold = one.own_answers[0].hold;
    table->Release(release);
    clock.Advance(std::chrono::milliseconds(7));
  }
  EXPECT_EQ(support::AllocationsOfThisThread() - before, 0);
}

INSTANTIATE_TEST_SUITE_P(Algorithms, AllocationTest, ::testing::ValuesIn(core::kAllAlgorithms),
                         [](const auto& tested) {
                           return std::string(core::NameOf(tested.param));
                         });

}  // namespace
}  // namespace sluice::store
