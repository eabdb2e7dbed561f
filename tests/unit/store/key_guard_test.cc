#include "store/key_guard.h"

#include <chrono>
#include <thread>

#include <gtest/gtest.h>

#include "store/decide_one.h"
#include "unit/store/bare_core.h"

namespace sluice::store {
namespace {

using support::OwnedKey;

// Another thread moves the state to the new id while the guard waits for the old one's lock. (If
// the guard comes too late for that, it finds the new id at once: never a false alarm.)
TEST(KeyGuardTest, SeesAStateThatMovesWhileItWaits) {
  constexpr std::uint32_t kMover = 9;
  BareCore bare;
  TableCore& core = bare.core;
  const core::Quota quota = support::QuotaOf(core::Algorithm::kGcra, 5);
  const Turn turn{.now = {.monotonic = TableInstant(std::chrono::hours(1)), .wall_clock = {}},
                  .thread = 0};
  const OwnedKey before("k", "old");
  const OwnedKey key("k", "new", "old");
  support::OwnedCheckCall call;
  call.Add({.key = before.view(), .quota = quota, .cost = Cost{5}});
  DecideOne(core, turn, call, core.hash.Of("old", before.view(), quota));
  Slot* const former = bare.Find("old", before, quota);
  ASSERT_NE(former, nullptr);
  Lock(*former, kMover);
  const Slot* guarded = nullptr;
  std::thread waiting([&] {
    const KeyGuard guard(core, turn, key.view(), quota);
    guarded = guard.slot();
  });
  LetOthersRun();
  Slot* const own = core.slots.Insert({.key = core.hash.Of("new", key.view(), quota),
                                       .rule = 0,
                                       .kind = former->kind,
                                       .now = turn.now.monotonic,
                                       .owner = kMover,
                                       .may_evict = false});
  own->state = former->state;
  own->expiry.store(former->expiry.load());
  former->state = {};
  former->expiry.store(0);
  Unlock(*own);
  Unlock(*former);
  waiting.join();
  EXPECT_EQ(guarded, own);
}

}  // namespace
}  // namespace sluice::store
