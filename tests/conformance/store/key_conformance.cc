#include <array>
#include <chrono>
#include <string>
#include <string_view>

#include "conformance/store/key_store_conformance.h"

// Which keys are one, and what a rename keeps.
namespace sluice::conformance {

using core::Algorithm;
using core::Quota;
using std::chrono::milliseconds;
using std::chrono::seconds;
using support::OwnedCheckCall;
using support::OwnedKey;

TEST_P(KeyStoreConformance, AnotherShapeOrPartIsAnotherKey) {
  const OwnedKey key("k");
  for (const Algorithm algorithm : kAll) {
    EXPECT_EQ(Drain(key, QuotaOf(algorithm, 3), 100), 3) << core::NameOf(algorithm);
  }
  Quota hour = QuotaOf(Algorithm::kFixedWindow, 3);
  hour.window = std::chrono::hours(1);
  EXPECT_EQ(Drain(key, hour, 100), 3);
  Quota segments = QuotaOf(Algorithm::kSlidingWindow, 3);
  segments.segments = 4;
  EXPECT_EQ(Drain(key, segments, 100), 3);
  // strict and shape change how it is judged, not whose it is.
  Quota strict = QuotaOf(Algorithm::kSlidingWindow, 3);
  strict.strict = true;
  EXPECT_FALSE(Ask(key, strict).decision.allowed);

  const Quota one = QuotaOf(Algorithm::kGcra, 1);
  EXPECT_TRUE(Ask(OwnedKey(""), one).decision.allowed);
  EXPECT_FALSE(Ask(OwnedKey(""), one).decision.allowed);
  EXPECT_TRUE(Ask(OwnedKey(std::string("\0", 1)), one).decision.allowed);
  EXPECT_TRUE(Ask(OwnedKey("\xff{}:*"), one).decision.allowed);
  EXPECT_TRUE(Ask(OwnedKey(std::string(1024, 'x')), one).decision.allowed);
  EXPECT_FALSE(Ask(OwnedKey(std::string(1024, 'x')), one).decision.allowed);
  EXPECT_TRUE(Ask(OwnedKey(std::string(1023, 'x')), one).decision.allowed);
  // (a, b:c) is not (a:b, c), and an address is not its text.
  const auto ask_pair = [&](std::string_view a, std::string_view b, core::AttributeType type) {
    const std::array parts{core::KeyPart{.attribute = "p", .type = type, .value = a},
                           core::KeyPart{.attribute = "q", .value = b}};
    OwnedCheckCall call;
    call.Add({.key = {.rule = "r", .formerly = {}, .parts = parts}, .quota = one, .cost = {}});
    Send(call);
    return call.own_answers[0].decision.allowed;
  };
  EXPECT_TRUE(ask_pair("a", "b:c", core::AttributeType::kText));
  EXPECT_TRUE(ask_pair("a:b", "c", core::AttributeType::kText));
  EXPECT_TRUE(ask_pair("ab", ":c", core::AttributeType::kText));
  EXPECT_TRUE(ask_pair("a", "b:c", core::AttributeType::kIp));
  EXPECT_FALSE(ask_pair("a", "b:c", core::AttributeType::kText));
}

TEST_P(KeyStoreConformance, FormerlyMovesTheStateAtTheFirstTouch) {
  for (const Algorithm algorithm : kAll) {
    SCOPED_TRACE(core::NameOf(algorithm));
    const OwnedKey old_key("m", "old");
    const OwnedKey new_key("m", "new", "old");
    const OwnedKey new_alone("m", "new");
    const Quota quota = QuotaOf(algorithm, 20);
    EXPECT_EQ(Drain(old_key, quota, 12), 12);
    EXPECT_EQ(Ask(new_key, quota, 0, true).decision.remaining, 8);
    EXPECT_EQ(Ask(old_key, quota, 0, true).decision.remaining, 20);
    EXPECT_EQ(Ask(new_key, quota).decision.remaining, 7);
    EXPECT_EQ(Ask(new_alone, quota, 0, true).decision.remaining, 7);
    EXPECT_EQ(Ask(old_key, quota, 0, true).decision.remaining, 20);
    EXPECT_EQ(Drain(new_key, quota, 100), 7);
    Reset(new_key, quota);
    EXPECT_EQ(Drain(new_key, quota, 100), 20);
  }
}

// Renamed twice, and between the renames the key is denied or looked at, never charged.
TEST_P(KeyStoreConformance, AStateSurvivesTwoRenames) {
  for (const Algorithm algorithm : kAll) {
    for (const bool peek : {false, true}) {
      SCOPED_TRACE(core::NameOf(algorithm));
      const OwnedKey first("t", "first");
      const OwnedKey second("t", "second", "first");
      const OwnedKey third("t", "third", "second");
      const Quota quota = QuotaOf(algorithm, 5);
      EXPECT_EQ(Drain(first, quota, 100), 5);
      EXPECT_FALSE(Ask(second, quota, 1, peek).decision.allowed);
      EXPECT_FALSE(Ask(third, quota, 1, peek).decision.allowed);
      EXPECT_EQ(Left(OwnedKey("t", "third"), quota), 0);
      Reset(third, quota);
    }
  }
}

// The key was not touched between the renames: the rule names both ids that it had.
TEST_P(KeyStoreConformance, AStateIsFoundUnderAnyFormerId) {
  for (const Algorithm algorithm : kAll) {
    SCOPED_TRACE(core::NameOf(algorithm));
    const OwnedKey first("u", "first");
    const OwnedKey third("u", "third", std::vector<std::string>{"second", "first"});
    const Quota quota = QuotaOf(algorithm, 5);
    EXPECT_EQ(Drain(first, quota, 3), 3);
    EXPECT_EQ(Left(third, quota), 2);
    EXPECT_EQ(Left(first, quota), 5);
    EXPECT_EQ(Drain(first, quota, 4), 4);  // What is in force has its own by now.
    EXPECT_EQ(Drain(third, quota, 100), 2);
    Reset(third, quota);
    EXPECT_EQ(Left(first, quota), 5);
    EXPECT_EQ(Left(third, quota), 5);
  }
}

TEST_P(KeyStoreConformance, VerbsFindAStateUnderAFormerId) {
  const OwnedKey first("v", "first");
  const OwnedKey third("v", "third", std::vector<std::string>{"second", "first"});
  const Quota quota = QuotaOf(Algorithm::kGcra, 5);
  EXPECT_EQ(Drain(first, quota, 5), 5);
  Refund(third, quota, 2);
  EXPECT_EQ(Left(third, quota), 2);
  const Quota holds = QuotaOf(Algorithm::kConcurrency, 2);
  const store::HoldId held = Ask(first, holds).hold;
  EXPECT_EQ(Renew(third, holds, held), store::StoreError::kNone);
  EXPECT_EQ(Release(third, holds, held), store::StoreError::kNone);
  EXPECT_EQ(Left(third, holds), 2);
}

TEST_P(KeyStoreConformance, AStateThatIsOverDoesNotHideTheFormerIdsOne) {
  for (const Algorithm algorithm : {Algorithm::kGcra, Algorithm::kSlidingWindowLog}) {
    SCOPED_TRACE(core::NameOf(algorithm));
    const OwnedKey old_key("h", "old");
    const OwnedKey new_key("h", "new", "old");
    const OwnedKey new_alone("h", "new");
    const Quota quota = QuotaOf(algorithm, 20);
    fixture_->Advance(milliseconds(300));  // Stores may round what they forget by to seconds.
    const Duration over = Ask(new_alone, quota).decision.reset_after;
    fixture_->Advance(over - milliseconds(1));
    EXPECT_EQ(Drain(old_key, quota, 12), 12);
    fixture_->Advance(milliseconds(1));
    EXPECT_EQ(Ask(new_key, quota, 0, true).decision.remaining, 8);
    Refund(new_key, quota, 2);
    EXPECT_EQ(Ask(new_key, quota, 0, true).decision.remaining, 10);
    EXPECT_EQ(Ask(new_key, quota).decision.remaining, 9);
    EXPECT_EQ(Ask(new_alone, quota, 0, true).decision.remaining, 9);
  }
}

}  // namespace sluice::conformance
