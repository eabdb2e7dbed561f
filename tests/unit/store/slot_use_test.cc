#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "store/decide_one.h"
#include "store/key_guard.h"
#include "store/request.h"
#include "support/store_calls.h"
#include "unit/store/bare_core.h"

// What a request does with slots that others use at the same time, and what it leaves in them.
namespace sluice::store {
namespace {

using core::Algorithm;
using support::OwnedCheckCall;
using support::OwnedKey;
using support::QuotaOf;

constexpr std::uint32_t kOther = 9;  // Another thread's name in a lock word.
constexpr Units kSlotLimit = 5;

class SlotUseTest : public testing::Test {
 protected:
  // Judged by request.h, or the short way where that is for such a call.
  CheckAnswer Ask(const OwnedKey& key, const core::Quota& quota, Units cost, bool peek = false) {
    OwnedCheckCall call;
    call.peek = peek;
    call.Add({.key = key.view(), .quota = quota, .cost = Cost{cost}});
    AdoptFormer(bare_.core, turn_, key.view(), quota, nullptr);
    const Fingerprint print = bare_.core.hash.Of(key.view().rule, key.view(), quota);
    if (IsPlain(call)) {
      DecideOne(bare_.core, turn_, call, print);
    } else {
      Request(bare_.core, turn_, call, {&print, 1}).Decide();
    }
    return call.own_answers[0];
  }

  BareCore bare_;
  Turn turn_;
};

// Between finding the former id's slot and locking it, the slot may be given to another key. What
// is in it then is nobody's to move.
TEST_F(SlotUseTest, AFormerSlotGivenAwayMeanwhileIsLeftAlone) {
  const core::Quota quota = QuotaOf(Algorithm::kGcra, kSlotLimit);
  const OwnedKey before("k", "old");
  const OwnedKey renamed("k", "new", "old");
  ASSERT_TRUE(Ask(before, quota, kSlotLimit).charged);
  Slot* const former = bare_.Find("old", before, quota);
  ASSERT_NE(former, nullptr);
  Lock(*former, kOther);
  CheckAnswer answer;
  std::thread waiting([&] { answer = Ask(renamed, quota, 1); });
  while (bare_.Find("new", renamed, quota) == nullptr) {  // It looks for the former one before.
    std::this_thread::yield();
  }
  const RawState others = former->state;
  former->low.store(former->low.load() + 1);
  Unlock(*former);
  waiting.join();
  EXPECT_TRUE(answer.charged);
  EXPECT_EQ(answer.decision.remaining, kSlotLimit - 1);
  EXPECT_EQ(former->state, others);
}

// The key is used up. It goes from slot to slot, forward, while the request waits for the one in
// which it has found it, until the request gives up (or until there is no slot left to go to: then
// the request sees what the key has). That it did not get to see the key does not make the key
// fresh.
TEST_F(SlotUseTest, WhatIsCrowdedOutIsNotAnsweredAsFresh) {
  constexpr std::uint16_t kMoves = 450;
  for (const bool peek : {false, true}) {
    for (const Algorithm algorithm : {Algorithm::kGcra, Algorithm::kSlidingWindowLog}) {
      SCOPED_TRACE(core::NameOf(algorithm));
      const OwnedKey key(peek ? "peeked" : "asked");
      const core::Quota quota = QuotaOf(algorithm, kSlotLimit);
      ASSERT_TRUE(Ask(key, quota, kSlotLimit).charged);
      const Fingerprint print = bare_.core.hash.Of("r", key.view(), quota);
      Slot* here = bare_.Find("r", key, quota);
      ASSERT_NE(here, nullptr);
      Lock(*here, kOther);
      bare_.core.slots.HomeOf(print).max_probe_distance.store(kMoves + 1);
      std::atomic<bool> answered{false};
      CheckAnswer answer;
      std::thread asking([&] {
        answer = Ask(key, quota, peek ? 1 : 0, peek);
        answered = true;
      });
      for (std::uint16_t i = 0; i < kMoves - 100 && !answered; ++i) {
        const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(500);
        while (std::chrono::steady_clock::now() < end) {
          std::this_thread::yield();
        }
        Slot* const next = here + 1;
        Lock(*next, kOther);
        next->kind = here->kind;
        next->state = here->state;
        next->expiry.store(here->expiry.load());
        next->high.store(print.high);
        next->low.store(print.low);
        here->low.store(print.low + 1);
        here->expiry.store(0);
        here->state = {};
        Unlock(*here);
        here = next;
      }
      Unlock(*here);
      asking.join();
      EXPECT_EQ(answer.decision.remaining, 0);
    }
  }
}

// Or whoever looks at a key would keep it in a full table.
TEST_F(SlotUseTest, APeekDoesNotHeatAKeyAndADenialDoes) {
  for (const Algorithm algorithm : {Algorithm::kGcra, Algorithm::kFixedWindow,
                                    Algorithm::kSlidingWindowLog, Algorithm::kSlidingWindow}) {
    SCOPED_TRACE(core::NameOf(algorithm));
    const core::Quota quota = QuotaOf(algorithm, kSlotLimit);
    const OwnedKey key("k");
    ASSERT_TRUE(Ask(key, quota, kSlotLimit).charged);
    const Slot* const slot = bare_.Find("r", key, quota);
    ASSERT_NE(slot, nullptr);
    const int heat = slot->heat.load();
    EXPECT_FALSE(Ask(key, quota, 1, /*peek=*/true).decision.allowed);
    EXPECT_EQ(slot->heat.load(), heat);
    EXPECT_FALSE(Ask(key, quota, 1).decision.allowed);
    EXPECT_EQ(slot->heat.load(), heat + 1);
  }
}

// One key has all blocks but one and cannot be touched; the one in the middle is of a key that is
// over. A request that needs a block looks at so many and no more, and leaves the rest to the next
// one.
TEST(BlockRoomTest, ASearchForRoomEndsSoon) {
  constexpr std::uint32_t kBlocks = 2048;
  BareCore bare({.homes = 64, .blocks = kBlocks});
  bare.core.when_full = WhenFull::kDeny;
  Turn turn{.now = {.monotonic = TableInstant(std::chrono::hours(1)), .wall_clock = {}},
            .thread = 0};
  core::Quota quota = QuotaOf(Algorithm::kSlidingWindowLog, 1'000'000);
  const auto ask = [&](const OwnedKey& key) {
    turn.now.monotonic += Duration(1);
    OwnedCheckCall call;
    call.Add({.key = key.view(), .quota = quota, .cost = Cost{1}});
    const Fingerprint print = bare.core.hash.Of("r", key.view(), quota);
    Request(bare.core, turn, call, {&print, 1}).Decide();
    return call.own_answers[0].decision.reason;
  };
  const OwnedKey large("large");
  const OwnedKey over("over");
  for (std::uint32_t i = 0; i < kBlocks / 2 * kEntriesPerBlock; ++i) {
    ASSERT_EQ(ask(large), Reason::kNone);
  }
  quota.window = std::chrono::seconds(1);
  ASSERT_EQ(ask(over), Reason::kNone);
  quota.window = std::chrono::hours(1);
  while (bare.core.blocks.in_use() < kBlocks) {
    ASSERT_EQ(ask(large), Reason::kNone);
  }
  turn.now.monotonic += std::chrono::seconds(3);
  Slot* const locked = bare.Find("r", large, quota);
  ASSERT_NE(locked, nullptr);
  Lock(*locked, kOther);
  EXPECT_EQ(ask(OwnedKey("next")), Reason::kStoreFull);  // Looks at the first 512 blocks,
  EXPECT_EQ(ask(OwnedKey("next")), Reason::kStoreFull);  // and at the next ones.
  EXPECT_EQ(ask(OwnedKey("next")), Reason::kNone);
  Unlock(*locked);
}

}  // namespace
}  // namespace sluice::store
