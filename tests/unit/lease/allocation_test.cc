#include <chrono>

#include <gtest/gtest.h>

#include "support/counted_new.h"
#include "unit/lease/lease_world.h"

namespace sluice::lease {
namespace {

struct Quiet final : store::CheckCall {
  void OnAnswered() noexcept override {}
};

// One that is decided here, one that is asked, and the borrowing that goes with it.
TEST(LeaseAllocationTest, NothingIsAllocatedOnceWarm) {
  support::ManualClock clock;
  const auto shared = MakeTestTable(clock);
  const auto local = MakeTestTable(clock);
  const std::atomic<int> nodes{1};
  LeaseStore store(*shared, *local, nodes, clock, {.keys = 16});
  const auto book = store.Attach(nullptr);
  const support::OwnedKey key("u");
  const support::OwnedKey other("u", "other");
  Quiet call;
  const store::Check checks[] = {
      {.key = key.view(), .quota = LeaseWorld::Window(), .cost = {}, .sync = core::Sync::kLease},
      {.key = other.view(), .quota = LeaseWorld::Window(100'000), .cost = {}}};
  store::CheckAnswer answers[2];
  const auto ask = [&](std::size_t count) {
    clock.Advance(std::chrono::milliseconds(20));
    call.checks = {checks, count};
    call.answers = {answers, count};
    store::CheckCall* const one = &call;
    store.CheckMany({&one, 1});
    book->Tick();
  };
  for (std::size_t i = 0; i < 5'000; ++i) {
    ask(1 + i % 2);
  }
  const auto borrows = store.metrics().Read(LeaseCount::kBorrows);
  const auto before = support::AllocationsOfThisThread();
  for (std::size_t i = 0; i < 10'000; ++i) {
    ask(1 + i % 2);
  }
  EXPECT_EQ(support::AllocationsOfThisThread(), before);
  EXPECT_GT(store.metrics().Read(LeaseCount::kBorrows), borrows);
}

}  // namespace
}  // namespace sluice::lease
