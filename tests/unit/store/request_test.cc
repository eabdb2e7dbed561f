#include <array>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "store/table.h"
#include "support/manual_clock.h"
#include "support/store_calls.h"

// What a request does to the table beside its answers.
namespace sluice::store {
namespace {

using core::Algorithm;
using support::OwnedCheckCall;
using support::OwnedKey;
using support::QuotaOf;

std::unique_ptr<Table> NewTable(const base::Clock& clock) {
  return std::move(
      *Table::Create({.path = "", .keys = 1, .blocks = 8, .huge_pages = false}, clock));
}

// A slot's expiry is 32 bits of seconds. In a table of two homes all keys meet.
TEST(RequestTest, KeepsTheSlotsOfAllItsKeysAlsoPast2106) {
  support::ManualClock clock;
  clock.StepWallClock(std::chrono::hours(24 * 365 * 85));
  const std::unique_ptr<Table> table = NewTable(clock);
  std::vector<std::unique_ptr<OwnedKey>> keys;
  OwnedCheckCall call;
  for (int i = 0; i < 16; ++i) {
    keys.push_back(std::make_unique<OwnedKey>(std::to_string(i)));
    call.Add({.key = keys.back()->view(), .quota = QuotaOf(Algorithm::kGcra, 5), .cost = {}});
  }
  support::Send(*table, call);
  for (const CheckAnswer& answer : call.own_answers) {
    EXPECT_TRUE(answer.charged);
  }
}

// A flood of keys that are denied anyway must not push others out.
TEST(RequestTest, WhatCanNeverPassTakesNoSlot) {
  const support::ManualClock clock;
  const std::unique_ptr<Table> table = NewTable(clock);
  core::Quota no_rate = QuotaOf(Algorithm::kTokenBucket, 5);
  no_rate.rate = 0;
  core::Quota reserved = QuotaOf(Algorithm::kConcurrency, 5);
  core::Reserves all_of_it;
  all_of_it.Add("critical", 100);
  reserved.reserves = &all_of_it;
  const core::Quota no_limit = QuotaOf(Algorithm::kFixedWindow, 0);
  const core::Quota small = QuotaOf(Algorithm::kSlidingWindowLog, 5);
  const OwnedKey key("never");
  struct Case {
    core::Quota quota;
    Units cost = 0;
  };
  for (const auto& [quota, cost] :
       {Case{no_rate, 1}, Case{reserved, 1}, Case{no_limit, 1}, Case{small, 6}}) {
    OwnedCheckCall call;
    call.Add({.key = key.view(), .quota = quota, .cost = Cost{cost}});
    support::Send(*table, call);
    EXPECT_FALSE(call.own_answers[0].decision.allowed);
    EXPECT_EQ(call.own_answers[0].decision.retry_after, Decision::kNever);
  }
  EXPECT_EQ(table->Stats().inserts, 0U);
}

// What the new id held is over, and its blocks with it, when the old id's state moves there.
TEST(RequestTest, AMoveToAnIdWhoseOwnUseIsOverLosesNoBlock) {
  support::ManualClock clock;
  const std::unique_ptr<Table> table = NewTable(clock);
  const core::Quota log = QuotaOf(Algorithm::kSlidingWindowLog, 10);
  const OwnedKey before("k", "old");
  const OwnedKey alone("k", "new");
  const OwnedKey renamed("k", "new", "old");
  for (const OwnedKey* key : {&alone, &before, &renamed}) {
    if (key == &before) {
      clock.Advance(std::chrono::hours(2));
    }
    OwnedCheckCall call;
    call.Add({.key = key->view(), .quota = log, .cost = {}});
    support::Send(*table, call);
    EXPECT_TRUE(call.own_answers[0].charged);
  }
  EXPECT_EQ(table->Stats().blocks_in_use, 1U);
}

}  // namespace
}  // namespace sluice::store
