#include "store/key_guard.h"

#include <array>
#include <memory>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "store/table_layout.h"
#include "support/store_calls.h"

namespace sluice::store {
namespace {

using support::OwnedKey;

// Another thread moves the state to the new id while the guard waits for the old one's lock. (If
// the guard comes too late for that, it finds the new id at once: never a false alarm.)
TEST(KeyGuardTest, SeesAStateThatMovesWhileItWaits) {
  constexpr std::uint64_t kHomes = 64;
  constexpr std::uint32_t kMover = 9;
  const HashSecret secret{};
  std::vector<RulePlace> places(kRulePlaces);
  std::vector<Slot> slots(kHomes + kProbeBound);
  TableCore core{.hash = KeyHash(secret),
                 .rules = RuleDirectory(places),
                 .blocks = BlockPool({}, {}),
                 .counters = {},
                 .slots = SlotArray(slots, kHomes, core.blocks, core.counters),
                 .base = nullptr,
                 .journal = {},
                 .when_full = WhenFull::kEvict};
  core::Quota quota;
  quota.algorithm = core::Algorithm::kGcra;
  const OwnedKey key("k", "new", "old");
  const auto insert = [&](std::string_view rule) {
    return core.slots.Insert({.key = core.hash.Of(rule, key.view(), quota),
                              .rule = 0,
                              .kind = 0,
                              .now = {},
                              .owner = kMover,
                              .may_evict = false});
  };
  Slot* const former = insert("old");
  const Turn turn;
  bool sees_own = false;
  std::thread waiting([&] {
    const KeyGuard guard(core, turn, key.view(), quota);
    sees_own = guard.own() != nullptr;
  });
  for (int i = 0; i < 20'000; ++i) {
    std::this_thread::yield();
  }
  Unlock(*insert("new"));
  Unlock(*former);
  waiting.join();
  EXPECT_TRUE(sees_own);
}

}  // namespace
}  // namespace sluice::store
