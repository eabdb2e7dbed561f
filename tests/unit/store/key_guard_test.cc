#include "store/key_guard.h"

#include <thread>

#include <gtest/gtest.h>

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
  LetOthersRun();
  Unlock(*insert("new"));
  Unlock(*former);
  waiting.join();
  EXPECT_TRUE(sees_own);
}

}  // namespace
}  // namespace sluice::store
