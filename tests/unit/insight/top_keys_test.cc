#include "insight/top_keys.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sluice::insight {
namespace {

using namespace std::chrono_literals;  // NOLINT(google-build-using-namespace)

class TopKeysTest : public testing::Test {
 protected:
  void Add(std::string_view rule, std::string_view key, Kind kind = Kind::kAllowed, int times = 1) {
    for (int i = 0; i < times; ++i) {
      top_.Add({.rule = rule, .key = key, .kind = kind});
    }
  }
  // "key:count" of a rule.
  std::vector<std::string> Of(std::string_view rule, std::size_t kind = kAllKinds,
                              Window window = Window::kMinute) {
    std::vector<std::string> keys;
    for (const RuleTop& each : top_.Top({.rule = rule, .kind = kind, .window = window})) {
      for (const RuleTop::Key& key : each.keys) {
        keys.push_back(key.counted.key + ":" + std::to_string(key.counted.count));
      }
    }
    return keys;
  }

  TopKeys top_{0s};
};

using testing::ElementsAre;
using testing::IsEmpty;
constexpr auto kDenied = static_cast<std::size_t>(Kind::kDenied);

TEST_F(TopKeysTest, RanksTheKeysOfEachRuleByKind) {
  Add("a", "x", Kind::kAllowed, 3);
  Add("a", "y", Kind::kDenied, 2);
  Add("a", "y", Kind::kAllowed);
  Add("a", "y", Kind::kBanned);
  Add("b", "z", Kind::kShadow);
  EXPECT_THAT(Of("a"), ElementsAre("y:4", "x:3"));
  EXPECT_THAT(Of("a", kDenied), ElementsAre("y:2"));
  EXPECT_THAT(Of("b", kDenied), IsEmpty());
  const auto tops = top_.Top({});
  ASSERT_EQ(tops.size(), 2U);
  EXPECT_THAT(tops[0].totals, ElementsAre(4, 2, 1, 0, 7));
  EXPECT_THAT(tops[0].keys[0].by_kind, ElementsAre(1, 2, 1, 0));
  EXPECT_THAT(top_.Top({.most = 1})[0].keys, testing::SizeIs(1));
}

TEST_F(TopKeysTest, TheMinuteForgetsAndTheStartDoesNot) {
  Add("a", "old");
  EXPECT_FALSE(top_.Advance(29s));
  EXPECT_TRUE(top_.Advance(30s));
  Add("a", "new");
  EXPECT_THAT(Of("a"), ElementsAre("new:1", "old:1"));
  EXPECT_EQ(top_.MinuteAt(45s), 45s);
  EXPECT_TRUE(top_.Advance(60s));
  EXPECT_EQ(top_.MinuteAt(61s), 31s);
  EXPECT_THAT(Of("a"), ElementsAre("new:1"));
  EXPECT_TRUE(top_.Advance(90s));
  EXPECT_THAT(Of("a"), IsEmpty());
  EXPECT_THAT(Of("a", kAllKinds, Window::kStart), ElementsAre("new:1", "old:1"));
}

TEST_F(TopKeysTest, AfterAPauseTheMinuteHasNothingOld) {
  Add("a", "old");
  EXPECT_TRUE(top_.Advance(1h));
  EXPECT_THAT(Of("a"), IsEmpty());
  EXPECT_EQ(top_.MinuteAt(1h + 1s), 1s);
}

TEST_F(TopKeysTest, RulesThatAreGoneFreeTheirMemory) {
  Add("a", "x");
  Add("b", "x");
  const std::size_t before = top_.entries();
  top_.KeepRules([](std::string_view rule) { return rule == "b"; });
  EXPECT_EQ(top_.entries(), before / 2);
  EXPECT_THAT(Of("a"), IsEmpty());
  EXPECT_THAT(Of("b"), ElementsAre("x:1"));
}

TEST_F(TopKeysTest, KeysWithoutEndDoNotGrowIt) {
  for (int i = 0; i < 100'000; ++i) {
    Add("a", std::to_string(i));
  }
  EXPECT_EQ(top_.entries(), 4 * TopKeys::kMostRoom);  // One kind and all, the minute and the start.
  EXPECT_EQ(top_.capacity(), TopKeys::kMostRoom);
}

// More rules than there is room for, each with more keys than there is room for.
TEST_F(TopKeysTest, RulesWithoutEndDoNotGrowItAndAHeavyKeyStays) {
  for (int i = 0; i < 4'000; ++i) {
    const std::string rule = "r" + std::to_string(i);
    for (int key = 0; key < 12; ++key) {
      Add(rule, std::to_string(key));
    }
    Add("busy", "heavy", Kind::kDenied, 5);
    ASSERT_LE(top_.entries(), TopKeys::kMostEntries);
  }
  EXPECT_EQ(top_.capacity(), TopKeys::kLeastRoom);
  EXPECT_THAT(Of("busy", kDenied), ElementsAre("heavy:20000"));
  EXPECT_THAT(Of("r0"), IsEmpty());  // It was silent longest.
  EXPECT_THAT(Of("r3999"), testing::SizeIs(8));
  top_.KeepRules([](std::string_view rule) { return rule == "busy"; });
  for (int i = 1; i < 8; ++i) {
    EXPECT_TRUE(top_.Advance(i * 30s));
  }
  EXPECT_EQ(top_.capacity(), TopKeys::kMostRoom);
}

TEST_F(TopKeysTest, KnowsTheKeysWithALargeShareOfABusyRule) {
  Add("busy", "heavy", Kind::kDenied, 30);
  Add("busy", "large", Kind::kAllowed, 10);
  for (int i = 0; i < 60; ++i) {
    Add("busy", "user" + std::to_string(i));
  }
  Add("quiet", "only");
  Add("keyless", std::string(1, '\0'), Kind::kDenied, 100);
  const auto shares = top_.Shares(0.1, 100);
  ASSERT_EQ(shares.size(), 2U);
  EXPECT_EQ(shares[0].rule, "busy");
  EXPECT_EQ(shares[0].total, 100U);
  EXPECT_DOUBLE_EQ(shares[0].top_share, 0.3);
  ASSERT_EQ(shares[0].keys.size(), 2U);
  EXPECT_EQ(shares[0].keys[0].key, "heavy");
  EXPECT_EQ(shares[0].keys[1].key, "large");
  EXPECT_EQ(shares[1].rule, "keyless");
  EXPECT_EQ(shares[1].top_share, 0);
}

}  // namespace
}  // namespace sluice::insight
