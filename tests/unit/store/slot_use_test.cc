#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "store/decide_one.h"
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

// And a state may come under the former id while the request waits for its own slot.
TEST_F(SlotUseTest, AFormerSlotThatAppearsMeanwhileIsSeen) {
  const core::Quota quota = QuotaOf(Algorithm::kGcra, kSlotLimit);
  const OwnedKey before("k", "old");
  const OwnedKey renamed("k", "new", "old");
  ASSERT_TRUE(Ask(OwnedKey("k", "new"), quota, 1).charged);
  Slot* const own = bare_.Find("new", renamed, quota);
  ASSERT_NE(own, nullptr);
  Lock(*own, kOther);
  own->expiry.store(0);  // Over: it hides no former id's state.
  CheckAnswer answer;
  std::thread waiting([&] { answer = Ask(renamed, quota, 1); });
  LetOthersRun();
  ASSERT_TRUE(Ask(before, quota, 2).charged);
  Unlock(*own);
  waiting.join();
  EXPECT_EQ(answer.decision.remaining, kSlotLimit - 3);
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

}  // namespace
}  // namespace sluice::store
