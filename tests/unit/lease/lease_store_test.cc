#include "lease/lease_store.h"

#include <chrono>

#include <gtest/gtest.h>

#include "core/ban.h"
#include "unit/lease/lease_world.h"

namespace sluice::lease {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using support::OwnedCheckCall;

TEST(LeaseStoreTest, DecidesMostRequestsByWhatItBorrowed) {
  LeaseWorld world;
  const core::Quota quota = LeaseWorld::Window();
  EXPECT_EQ(world.AskMany(400, quota), 400);
  EXPECT_LT(world.watched.checks, 40);
  EXPECT_GT(world.Count(LeaseCount::kAllowedHere), 360U);
  // What is held was debited before.
  EXPECT_LE(world.LeftInStore(quota), 600);
}

TEST(LeaseStoreTest, AdmitsTheWholeLimitAndNoMore) {
  LeaseWorld world;
  const core::Quota quota = LeaseWorld::Window();
  EXPECT_EQ(world.AskMany(1'500, quota), 1'000);
  EXPECT_EQ(world.LeftInStore(quota), 0);
}

TEST(LeaseStoreTest, ACallWithoutLeasesGoesAsItIs) {
  LeaseWorld world;
  OwnedCheckCall call;
  call.Add({.key = world.key.view(), .quota = LeaseWorld::Window(), .cost = {}});
  world.Send(call);
  EXPECT_EQ(world.watched.asked.data(), call.own_checks.data());
  world.late.PumpAll();
  EXPECT_TRUE(call.own_answers[0].decision.allowed);
  EXPECT_EQ(world.book->keys(), 0U);
}

TEST(LeaseStoreTest, WhatMustBeExactIsAskedEveryTime) {
  LeaseWorld world;
  const core::Quota quota = LeaseWorld::Window();
  world.AskMany(50, quota);
  const core::Ban ban{.after = 100, .within = seconds(1), .lasts = seconds(1)};
  store::Check banning = world.Lent(quota);
  banning.ban = &ban;
  store::Check shadow = world.Lent(quota);
  shadow.shadow = true;
  store::Check with_receipt = world.Lent(quota);
  with_receipt.want_receipt = true;
  for (const store::Check& check : {banning, shadow, with_receipt, world.Lent(quota, 0)}) {
    const int before = world.watched.checks;
    EXPECT_TRUE(world.Ask(check).decision.allowed);
    EXPECT_EQ(world.watched.checks, before + 1);
  }
  OwnedCheckCall peek;
  peek.Add(world.Lent(quota));
  peek.peek = true;
  world.Send(peek);
  EXPECT_EQ(world.watched.asked.data(), peek.own_checks.data());
  world.late.PumpAll();
}

TEST(LeaseStoreTest, ReportsWhatItHoldsAndTakesForDenied) {
  LeaseWorld world;
  const core::Quota quota = LeaseWorld::Window(100);
  const auto report = [&world](const core::Quota& of) {
    BorrowedUnits said{.loops = -1};
    world.store.Report(world.key.view(), of,
                       [&said](const BorrowedUnits& reported) { said = reported; });
    return said;
  };
  EXPECT_EQ(report(quota).loops, 0);
  world.AskMany(40, quota);
  const BorrowedUnits lent = report(quota);
  EXPECT_EQ(lent.loops, 1);
  EXPECT_GT(lent.held, 0);
  // All that was debited is spent or held.
  EXPECT_EQ(lent.held, 100 - 40 - world.LeftInStore(quota));
  EXPECT_EQ(lent.denied_for, Duration(0));
  EXPECT_EQ(report(LeaseWorld::Window(99)).loops, 0) << "other numbers are another entry";
  world.AskMany(100, quota);
  const BorrowedUnits spent = report(quota);
  EXPECT_EQ(spent.held, 0);
  EXPECT_GT(spent.denied_for, Duration(0));
}

TEST(LeaseStoreTest, AnswersWithWhatIsLeftThereAndHere) {
  LeaseWorld world;
  const core::Quota quota = LeaseWorld::Window();
  world.AskMany(100, quota);
  const store::CheckAnswer answer = world.Ask(world.Lent(quota));
  EXPECT_TRUE(answer.charged);
  EXPECT_EQ(answer.decision.limit, 1'000);
  EXPECT_NEAR(static_cast<double>(answer.decision.remaining), 899, 1);
  // The clock stands at a whole minute when a test begins.
  EXPECT_NEAR(static_cast<double>(answer.decision.reset_after.count()), 59e9, 20e6);
}

// The grant's end is where its window ends, by the store's own clock.
TEST(LeaseStoreTest, WhatIsHeldIsVoidWhenItsWindowEnds) {
  LeaseWorld world;
  const core::Quota quota = LeaseWorld::Window();
  world.AskMany(100, quota);
  ASSERT_GT(world.store.metrics().held(), 0);
  world.clock.Advance(seconds(59) -
                      milliseconds(1));  // 1 ms into the next minute less 1 ms: its end.
  const int before = world.watched.checks;
  (void)world.Ask(world.Lent(quota));
  EXPECT_GT(world.watched.checks, before);
  EXPECT_EQ(world.watched.settles, 0);  // And is not given back either.
  EXPECT_GT(world.Count(LeaseCount::kLapsedUnits), 0U);
}

TEST(LeaseStoreTest, AGrantThatComesAfterItsWindowIsNone) {
  LeaseWorld world;
  const core::Quota quota = LeaseWorld::Window();
  world.clock.Advance(seconds(58));
  OwnedCheckCall first;
  first.Add(world.Lent(quota));
  world.Send(first);
  world.late.Pump();  // Its answer makes the book borrow.
  ASSERT_EQ(world.late.pending(), 1U);
  const Units left = world.LeftInStore(quota);
  EXPECT_LT(left, 999);
  world.clock.Advance(seconds(3));
  world.late.PumpAll();
  EXPECT_EQ(world.store.metrics().held(), 0);
  EXPECT_EQ(world.watched.settles, 0);
  EXPECT_EQ(world.LeftInStore(quota), 1'000);
  EXPECT_EQ(world.Count(LeaseCount::kFailedBorrows), 1U);
}

// Counted from its answer, the end would be past the window's.
TEST(LeaseStoreTest, TheEndIsCountedFromWhenItWasAskedFor) {
  LeaseWorld world;
  const core::Quota quota = LeaseWorld::Window();
  world.clock.Advance(seconds(50));
  OwnedCheckCall first;
  first.Add(world.Lent(quota));
  world.Send(first);
  world.late.Pump();
  world.clock.Advance(seconds(9));
  world.late.PumpAll();
  ASSERT_EQ(world.store.metrics().held(), 1);
  world.clock.Advance(seconds(1));
  const int before = world.watched.checks;
  (void)world.Ask(world.Lent(quota));
  EXPECT_GT(world.watched.checks, before);
}

TEST(LeaseStoreTest, ABorrowWithoutAnAnswerGrantsNothing) {
  LeaseWorld world;
  const core::Quota quota = LeaseWorld::Window();
  OwnedCheckCall first;
  first.Add(world.Lent(quota));
  world.Send(first);
  world.watched.is_away = true;
  world.late.PumpAll();
  EXPECT_EQ(world.Count(LeaseCount::kFailedBorrows), 1U);
  EXPECT_EQ(world.store.metrics().held(), 0);
  // Nor is it asked for again at every request.
  const auto borrows = world.Count(LeaseCount::kBorrows);
  world.AskMany(5, quota, milliseconds(1));
  EXPECT_EQ(world.Count(LeaseCount::kBorrows), borrows);
}

TEST(LeaseStoreTest, WhatIsHeldIsServedWhileTheStoreIsAway) {
  LeaseWorld world;
  const core::Quota quota = LeaseWorld::Window();
  world.AskMany(200, quota);
  world.watched.is_away = true;
  int served = 0;
  while (world.Ask(world.Lent(quota)).decision.allowed && served < 1'000) {
    ++served;
  }
  EXPECT_GT(served, 10);
  EXPECT_LE(200 + served, 1'000);
  EXPECT_EQ(world.last_error, store::StoreError::kUnavailable);
}

TEST(LeaseStoreTest, WhatLiesIdleIsGivenBackOnce) {
  LeaseWorld world;
  const core::Quota quota = LeaseWorld::Window();
  world.AskMany(400, quota);  // So fast that the quota will be short.
  ASSERT_LT(world.LeftInStore(quota), 600);
  world.Tick();
  EXPECT_EQ(world.LeftInStore(quota), 600);
  EXPECT_EQ(world.store.metrics().held(), 0);
  EXPECT_LE(world.watched.settles, 2);
  EXPECT_EQ(world.AskMany(700, quota), 600);
}

TEST(LeaseStoreTest, KeysThatHoldNothingAreForgotten) {
  LeaseWorld world;
  world.AskMany(100, LeaseWorld::Window());
  world.Tick(400);
  EXPECT_EQ(world.book->keys(), 0U);
}

TEST(LeaseStoreTest, UnderNewNumbersTheOldUnitsAreOfNoUse) {
  LeaseWorld world;
  const core::Quota before = LeaseWorld::Window();
  const core::Quota after = LeaseWorld::Window(410);
  world.AskMany(400, before);
  ASSERT_GT(world.store.metrics().held(), 0);
  const int checks = world.watched.checks;
  (void)world.Ask(world.Lent(after));
  EXPECT_GT(world.watched.checks, checks);  // Not by what was lent under the old limit.
  world.Tick();
  EXPECT_GT(world.watched.settles, 0);
  EXPECT_LE(400 + world.AskMany(100, after), 410);
}

TEST(LeaseStoreTest, AResetDropsWhatIsHeld) {
  LeaseWorld world;
  const core::Quota quota = LeaseWorld::Window();
  world.AskMany(100, quota);
  support::Answered<store::ResetCall> reset;
  reset.key = world.key.view();
  reset.quota = quota;
  reset.sync = core::Sync::kLease;
  world.store.Reset(reset);
  world.late.PumpAll();
  EXPECT_EQ(reset.answers_got, 1);
  EXPECT_EQ(world.store.metrics().held(), 0);
  EXPECT_EQ(world.AskMany(1'500, quota), 1'000);
}

TEST(LeaseStoreTest, ADenialHoldsWithoutBeingAskedFor) {
  LeaseWorld world;
  const core::Quota quota = LeaseWorld::Window();
  world.AskMany(1'001, quota, milliseconds(1));
  const int before = world.watched.checks;
  world.clock.Advance(milliseconds(100));
  const store::CheckAnswer denied = world.Ask(world.Lent(quota));
  EXPECT_FALSE(denied.decision.allowed);
  EXPECT_EQ(denied.decision.reason, Reason::kQuotaExceeded);
  EXPECT_EQ(denied.decision.remaining, 0);
  EXPECT_NEAR(static_cast<double>(denied.decision.retry_after.count()), 58.9e9, 20e6);
  EXPECT_EQ(world.watched.checks, before);
  world.clock.Advance(seconds(59));
  EXPECT_TRUE(world.Ask(world.Lent(quota)).decision.allowed);
}

// A client's receipt gives back as an operator's refund does: who was denied may pass now.
TEST(LeaseStoreTest, ASettlementThatGivesBackEndsADenial) {
  LeaseWorld world;
  const core::Quota quota = LeaseWorld::Window();
  store::Check charged = world.Lent(quota, 5);
  charged.want_receipt = true;
  const store::Receipt receipt = world.Ask(charged).receipt;
  world.AskMany(1'001, quota, milliseconds(1));
  ASSERT_FALSE(world.Ask(world.Lent(quota)).decision.allowed);
  support::Answered<store::SettleCall> settle;
  settle.key = world.key.view();
  settle.quota = quota;
  settle.receipt = receipt;
  settle.charged = 5;
  settle.units = 2;
  settle.sync = core::Sync::kLease;
  world.store.Settle(settle);
  world.late.PumpAll();
  EXPECT_EQ(settle.error, store::StoreError::kNone);
  EXPECT_TRUE(world.Ask(world.Lent(quota)).decision.allowed);
}

// A debt that is paid back after the last instant of 64 bits: the remembered wait stays that long.
TEST(LeaseStoreTest, AWaitOfCenturiesIsRememberedAsOne) {
  LeaseWorld world;
  core::Quota quota;
  quota.algorithm = core::Algorithm::kTokenBucket;
  quota.limit = 1'000;
  quota.rate = 1'000;
  quota.window = std::chrono::minutes(1);
  store::Check charged = world.Lent(quota, 5);
  charged.want_receipt = true;
  support::Answered<store::SettleCall> settle;
  settle.receipt = world.Ask(charged).receipt;
  settle.key = world.key.view();
  settle.quota = quota;
  settle.charged = 5;
  settle.units = kMaxUnits;
  settle.sync = core::Sync::kLease;
  world.store.Settle(settle);
  world.late.PumpAll();
  const Decision asked = world.Ask(world.Lent(quota)).decision;
  const int before = world.watched.checks;
  const Decision remembered = world.Ask(world.Lent(quota)).decision;
  ASSERT_EQ(world.watched.checks, before);
  constexpr Duration kCentury = std::chrono::hours(24 * 36'525);
  for (const Decision& denied : {asked, remembered}) {
    EXPECT_FALSE(denied.allowed);
    EXPECT_GT(denied.retry_after, kCentury);
    EXPECT_GT(denied.reset_after, kCentury);
  }
}

TEST(LeaseStoreTest, OfSmallQuotasEveryUnitIsAskedFor) {
  LeaseWorld world;
  const core::Quota quota = LeaseWorld::Window(9);
  EXPECT_EQ(world.AskMany(20, quota), 9);
  EXPECT_EQ(world.watched.checks, 20);
}

TEST(LeaseStoreTest, AFullBookAsksExactly) {
  LeaseWorld world(1);
  const core::Quota quota = LeaseWorld::Window();
  world.AskMany(50, quota);
  store::Check other = world.Lent(quota);
  other.key = world.other_key.view();
  const int before = world.watched.checks;
  EXPECT_TRUE(world.Ask(other).decision.allowed);
  EXPECT_EQ(world.watched.checks, before + 1);
  EXPECT_EQ(world.Count(LeaseCount::kUnknownKeys), 1U);
}

TEST(LeaseStoreTest, AtTheEndAllIsGivenBack) {
  LeaseWorld world;
  const core::Quota quota = LeaseWorld::Window();
  world.AskMany(100, quota);
  ASSERT_FALSE(world.store.idle());
  world.book->Drain();
  world.late.PumpAll();
  EXPECT_TRUE(world.store.idle());
  EXPECT_EQ(world.LeftInStore(quota), 900);
  world.AskMany(10, quota);
  EXPECT_TRUE(world.store.idle());  // Nothing is borrowed any more.
}

TEST(LeaseStoreTest, ABucketIsLentToo) {
  LeaseWorld world;
  core::Quota quota;
  quota.algorithm = core::Algorithm::kTokenBucket;
  quota.limit = 1'000;
  quota.rate = 1'000;
  quota.window = seconds(10);
  EXPECT_EQ(world.AskMany(2'000, quota, milliseconds(10)), 2'000);
  EXPECT_LT(world.watched.checks, 200);
  EXPECT_LE(world.watched.largest, 125);
  world.AskMany(3'000, quota, Duration(0));
  EXPECT_EQ(world.LeftInStore(quota), 0);
}

}  // namespace
}  // namespace sluice::lease
