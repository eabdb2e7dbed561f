#include "records/decision_history.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/records/made_request.h"

namespace sluice::records {
namespace {

using testing::ElementsAre;

void Add(DecisionHistory& history, MadeRequest& made) {
  const std::string bytes = made.Bytes();
  insight::KeptRequest kept;
  insight::DecodeRequest(bytes, kept);
  history.Add(bytes, kept);
}
void Add(DecisionHistory& history, const std::string& rule, const std::string& user, bool allowed) {
  MadeRequest made(rule, user, allowed);
  Add(history, made);
}

// The users of those that match, the newest first.
std::vector<std::string> Users(const DecisionHistory& history, const DecisionFilter& filter = {}) {
  std::vector<std::string> users;
  history.ForEach(filter, [&](const insight::KeptRequest& request) {
    users.emplace_back(request.decisions[0].parts[0].value);
  });
  return users;
}

TEST(DecisionHistoryTest, ListsTheNewestFirst) {
  DecisionHistory history(1U << 20U);
  Add(history, "api", "a", true);
  Add(history, "other", "b", false);
  Add(history, "api", "c", true);
  EXPECT_THAT(Users(history), ElementsAre("c", "b", "a"));
  EXPECT_THAT(Users(history, {.most = 2}), ElementsAre("c", "b"));
  EXPECT_EQ(history.size(), 3U);
}

TEST(DecisionHistoryTest, FindsByRuleKeyIdAndOutcome) {
  DecisionHistory history(1U << 20U);
  Add(history, "api", "a", true);
  Add(history, "api", "b", false);
  MadeRequest both("other", "c", true);
  both.Add("api", "d", false).shadow = true;
  both.id.Take("req-1");
  Add(history, both);
  EXPECT_THAT(Users(history, {.rule = "other"}), ElementsAre("c"));
  EXPECT_THAT(Users(history, {.rule = "none"}), ElementsAre());
  EXPECT_THAT(Users(history, {.key = "a"}), ElementsAre("a"));
  EXPECT_THAT(Users(history, {.key = "user_id=d"}), ElementsAre("c"));
  EXPECT_THAT(Users(history, {.key = "tenant=d"}), ElementsAre());
  EXPECT_THAT(Users(history, {.rule = "other", .key = "d"}), ElementsAre());
  EXPECT_THAT(Users(history, {.request_id = "req-1"}), ElementsAre("c"));
  EXPECT_THAT(Users(history, {.outcome = "denied"}), ElementsAre("b"));
  EXPECT_THAT(Users(history, {.outcome = "allowed"}), ElementsAre("c", "a"));
  EXPECT_THAT(Users(history, {.outcome = "shadow_denied"}), ElementsAre("c"));
}

TEST(DecisionHistoryTest, AllowedTrafficPushesNoDenialOut) {
  DecisionHistory history(20'000);
  Add(history, "api", "denied", false);
  for (int i = 0; i < 1'000; ++i) {
    Add(history, "api", "user" + std::to_string(i), true);
  }
  EXPECT_THAT(Users(history, {.outcome = "denied"}), ElementsAre("denied"));
  EXPECT_LT(history.size(), 100U);
  EXPECT_GT(history.size(), 20U);
}

TEST(DecisionHistoryTest, AFloodOfOneRuleLeavesTheDenialsOfOthers) {
  DecisionHistory history(20'000);
  for (const char* user : {"a", "b", "c"}) {
    Add(history, "other", user, false);
  }
  for (int i = 0; i < 1'000; ++i) {
    Add(history, "api", "user" + std::to_string(i), false);
  }
  EXPECT_THAT(Users(history, {.rule = "other"}), ElementsAre("c", "b", "a"));
  EXPECT_EQ(Users(history).front(), "user999");
}

TEST(DecisionHistoryTest, AFloodOfOneKeyLeavesTheDenialsOfOtherKeys) {
  DecisionHistory history(1U << 20U);
  Add(history, "api", "quiet", false);
  for (int i = 0; i < 10'000; ++i) {
    Add(history, "api", "loud", false);
  }
  EXPECT_EQ(history.size(), 1 + DecisionHistory::kMostOfKey);
  EXPECT_THAT(Users(history, {.key = "quiet"}), ElementsAre("quiet"));
}

TEST(DecisionHistoryTest, ARequestToWhichNoRuleAppliesIsOneOfThem) {
  DecisionHistory history(1U << 20U);
  insight::KeptRequest kept;
  kept.request_id = "req-9";
  MadeRequest made("api", "a", true);
  insight::RequestRecord record = made.Record();
  std::string room(4096, '\0');
  class NoDecisions final : public insight::DecisionList {
   public:
    [[nodiscard]] std::size_t size() const override { return 0; }
    [[nodiscard]] insight::DecisionRecord At(std::size_t /*i*/) const override { return {}; }
  } none;
  const insight::RequestRecord empty{
      .now = record.now, .request_id = record.request_id, .decisions = none};
  room.resize(insight::EncodeRequest(empty, 0, false, room));
  insight::DecodeRequest(room, kept);
  history.Add(room, kept);
  EXPECT_EQ(history.size(), 1U);
}

}  // namespace
}  // namespace sluice::records
