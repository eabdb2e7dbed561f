#include <chrono>

#include <gtest/gtest.h>

#include "unit/lease/lease_world.h"

// Requests of which a part is decided here.
namespace sluice::lease {
namespace {

using support::OwnedCheckCall;

store::Check Exact(const LeaseWorld& world, Units limit) {
  return {.key = world.other_key.view(), .quota = LeaseWorld::Window(limit), .cost = {}};
}

store::Check Local(const LeaseWorld& world, Units limit) {
  store::Check check = Exact(world, limit);
  check.sync = core::Sync::kLocal;
  return check;
}

TEST(MixedRequestTest, OnlyTheRestIsAsked) {
  LeaseWorld world;
  const core::Quota quota = LeaseWorld::Window();
  world.AskMany(50, quota);
  OwnedCheckCall call;
  call.Add(world.Lent(quota));
  call.Add(Exact(world, 5));
  world.Send(call);
  EXPECT_EQ(world.watched.asked.size(), 1U);
  world.late.PumpAll();
  ASSERT_EQ(call.answers_got, 1);
  EXPECT_TRUE(call.own_answers[0].charged);
  EXPECT_EQ(call.own_answers[0].decision.limit, 1'000);
  EXPECT_TRUE(call.own_answers[1].charged);
  EXPECT_EQ(call.own_answers[1].decision.remaining, 4);
}

TEST(MixedRequestTest, ADenialOfTheRestReturnsWhatWasReserved) {
  LeaseWorld world;
  const core::Quota quota = LeaseWorld::Window();
  world.AskMany(50, quota);
  for (int i = 0; i < 30; ++i) {
    OwnedCheckCall call;
    call.Add(world.Lent(quota));
    call.Add(Exact(world, 2));
    world.Send(call);
    world.late.PumpAll();
    EXPECT_EQ(call.own_answers[1].decision.allowed, i < 2);
    EXPECT_TRUE(call.own_answers[0].decision.allowed);
    EXPECT_EQ(call.own_answers[0].charged, i < 2);
  }
  EXPECT_EQ(world.AskMany(1'500, quota, Duration(0)), 948);
}

TEST(MixedRequestTest, WhatIsReservedStandsIfTheRestIsNotAnswered) {
  LeaseWorld world;
  const core::Quota quota = LeaseWorld::Window();
  world.AskMany(50, quota);
  world.watched.is_away = true;
  OwnedCheckCall call;
  call.Add(Exact(world, 5));
  call.Add(world.Lent(quota));
  world.Send(call);
  world.late.PumpAll();
  EXPECT_EQ(call.error, store::StoreError::kNone);
  EXPECT_EQ(call.own_answers[0].error, store::StoreError::kUnavailable);
  EXPECT_EQ(call.own_answers[1].error, store::StoreError::kNone);
  EXPECT_TRUE(call.own_answers[1].charged);
}

// Whoever asked has denied the request for want of the rest, and says so: the shared store is away,
// and the units are here again.
TEST(MixedRequestTest, AnUndoneGrantCanBeSpentAgain) {
  LeaseWorld world;
  const core::Quota quota = LeaseWorld::Window();
  world.AskMany(50, quota);
  world.watched.is_away = true;
  const auto spend = [&] {
    OwnedCheckCall call;
    call.Add(world.Lent(quota));
    world.Send(call);
    world.late.PumpAll();
    return call.error == store::StoreError::kNone && call.own_answers[0].charged;
  };
  int left = 0;
  while (spend()) {
    ++left;
  }
  ASSERT_GT(left, 0);
  support::Answered<store::RefundCall> undo;
  undo.key = world.key.view();
  undo.quota = quota;
  undo.units = 1;
  undo.sync = core::Sync::kLease;
  undo.is_undo = true;
  world.store.Refund(undo);
  EXPECT_EQ(undo.error, store::StoreError::kNone);
  EXPECT_EQ(undo.answers_got, 1);
  EXPECT_TRUE(spend());
  EXPECT_FALSE(spend());
}

TEST(MixedRequestTest, WhatIsLocalIsAskedOfNobodyElse) {
  LeaseWorld world;
  OwnedCheckCall call;
  call.Add(Local(world, 3));
  for (int i = 0; i < 5; ++i) {
    world.Send(call);
    EXPECT_EQ(call.answers_got, i + 1);
    EXPECT_EQ(call.own_answers[0].decision.allowed, i < 3);
  }
  EXPECT_EQ(world.watched.checks, 0);
  support::Answered<store::ResetCall> reset;
  reset.key = world.other_key.view();
  reset.quota = LeaseWorld::Window(3);
  reset.sync = core::Sync::kLocal;
  world.store.Reset(reset);
  world.Send(call);
  EXPECT_TRUE(call.own_answers[0].decision.allowed);
}

TEST(MixedRequestTest, ALocalChargeIsTakenBackIfTheRestIsDenied) {
  LeaseWorld world;
  store::Check empty = Exact(world, 1);
  empty.key = world.key.view();
  EXPECT_TRUE(world.Ask(empty).decision.allowed);
  for (int i = 0; i < 10; ++i) {
    OwnedCheckCall call;
    call.Add(Local(world, 3));
    call.Add(empty);
    world.Send(call);
    world.late.PumpAll();
    EXPECT_FALSE(call.own_answers[1].decision.allowed);
    EXPECT_TRUE(call.own_answers[0].decision.allowed);
    EXPECT_FALSE(call.own_answers[0].charged);
    EXPECT_EQ(call.own_answers[0].decision.remaining, 3);
    EXPECT_EQ(call.own_answers[0].receipt.nonce, 0U);
  }
}

TEST(MixedRequestTest, ALocalDenialChargesNothingElsewhere) {
  LeaseWorld world;
  const core::Quota quota = LeaseWorld::Window();
  world.AskMany(50, quota);
  store::Check exact = Exact(world, 5);
  for (int i = 0; i < 10; ++i) {
    OwnedCheckCall call;
    call.Add(world.Lent(quota));
    call.Add(Local(world, 1));
    call.Add(exact);
    world.Send(call);
    world.late.PumpAll();
    EXPECT_EQ(call.own_answers[1].decision.allowed, i < 1);
    EXPECT_EQ(call.own_answers[0].charged, i < 1);
    EXPECT_EQ(call.own_answers[2].charged, i < 1);
    EXPECT_EQ(call.own_answers[2].decision.remaining, 4);
  }
  EXPECT_EQ(world.AskMany(1'500, quota, Duration(0)), 949);
}

TEST(MixedRequestTest, ADenialThatHoldsDeniesTheWholeRequest) {
  LeaseWorld world;
  const core::Quota quota = LeaseWorld::Window();
  world.AskMany(1'001, quota, Duration(0));
  OwnedCheckCall call;
  call.Add(world.Lent(quota));
  call.Add(Exact(world, 5));
  world.Send(call);
  world.late.PumpAll();
  EXPECT_FALSE(call.own_answers[0].decision.allowed);
  EXPECT_TRUE(call.own_answers[1].decision.allowed);
  EXPECT_FALSE(call.own_answers[1].charged);
  EXPECT_EQ(call.own_answers[1].decision.remaining, 5);
}

TEST(MixedRequestTest, EachForItselfIsDecidedEachForItself) {
  LeaseWorld world;
  const core::Quota quota = LeaseWorld::Window();
  world.AskMany(1'001, quota, Duration(0));
  OwnedCheckCall call;
  call.atomicity = store::Atomicity::kEach;
  call.Add(world.Lent(quota));
  call.Add(Exact(world, 5));
  world.Send(call);
  world.late.PumpAll();
  EXPECT_FALSE(call.own_answers[0].decision.allowed);
  EXPECT_TRUE(call.own_answers[1].charged);
}

TEST(MixedRequestTest, ShadowOfTheRestDeniesNothing) {
  LeaseWorld world;
  const core::Quota quota = LeaseWorld::Window();
  world.AskMany(50, quota);
  store::Check shadow = Exact(world, 0);
  shadow.shadow = true;
  OwnedCheckCall call;
  call.Add(shadow);
  call.Add(world.Lent(quota));
  world.Send(call);
  world.late.PumpAll();
  EXPECT_FALSE(call.own_answers[0].decision.allowed);
  EXPECT_TRUE(call.own_answers[1].charged);
}

}  // namespace
}  // namespace sluice::lease
