#include "replay/suggestion.h"

#include <string>

#include <gmock/gmock.h>

#include "rules/rule_set.h"
#include "unit/replay/replay_fixture.h"

namespace sluice::replay {
namespace {

using ::testing::HasSubstr;

class SuggestionTest : public ReplayTest {
 protected:
  Suggestion Suggest(const std::string& log) {
    auto logs = logs::LogMerge::Open({Write("log", log)}, {}, plan_);
    EXPECT_TRUE(logs);
    SuggestionReader reader(plan_, {std::chrono::minutes(1)});
    reader.Run(*logs, [] {});
    return reader.Suggestions(3).front();
  }
  // Key n asks n times within a minute, for n from 1 on.
  static std::string Staircase(int keys) {
    std::string log;
    for (int n = 1; n <= keys; ++n) {
      for (int i = 0; i < n; ++i) {
        log += Line(i % 59, n);
      }
    }
    return log;
  }
  const logs::AttributePlan plan_{{"ip"}, {}, ""};
};

TEST_F(SuggestionTest, TouchesNoMoreKeysThanItSays) {
  const Suggestion suggestion = Suggest(Staircase(200));
  EXPECT_EQ(suggestion.keys, 200U);
  EXPECT_EQ(suggestion.highest_peak, 200);
  ASSERT_EQ(suggestion.limits.size(), 3U);
  EXPECT_EQ(suggestion.limits[0].limit, 198);  // Two in 200.
  EXPECT_EQ(suggestion.limits[0].keys_touched, 2U);
  EXPECT_EQ(suggestion.limits[0].requests_of_touched, 399U);
  EXPECT_EQ(suggestion.limits[1].limit, 200);  // None.
  EXPECT_EQ(suggestion.limits[1].keys_touched, 0U);
  EXPECT_EQ(suggestion.busiest.front().key, "192.0.2.200");
}

TEST_F(SuggestionTest, TheLimitTouchesSoManyWhenItIsReplayed) {
  const std::string log = Staircase(200);
  const Suggestion suggestion = Suggest(log);
  for (const Units less : {0, 1}) {
    const ReplayReport report = Run(
        "rules:\n  - {id: r, key_pattern: \"ip:{ip}\", algorithm: sliding_window_log, window: 1m, "
        "limit: " +
            std::to_string(suggestion.limits[0].limit - less) + "}\n",
        log);
    EXPECT_EQ(report.rules[0].keys_denied, suggestion.limits[0].keys_touched + (less == 0 ? 0 : 1));
  }
}

TEST_F(SuggestionTest, PrintsARuleThatLoads) {
  const std::string text = SuggestionText(Suggest(Staircase(20)), {"ip"}, "");
  const std::size_t begin = text.find("rules:\n");
  ASSERT_NE(begin, std::string::npos);
  const std::vector<rules::SourceText> sources{{.name = "pasted", .text = text.substr(begin)}};
  rules::Findings findings;
  const auto set = rules::RuleSet::Build(sources, nullptr, findings);
  ASSERT_NE(set, nullptr) << text;
  EXPECT_EQ(set->rules()[0].key_pattern, "ip:{ip}");
  EXPECT_EQ(set->rules()[0].quota.limit, 20);
  EXPECT_EQ(set->rules()[0].mode, rules::Mode::kShadow);
}

TEST_F(SuggestionTest, SaysThatNoRequestHasTheKey) {
  const Suggestion suggestion =
      Suggest("h1.example - - [17/Dec/2025:09:05:00 +0000] \"GET / HTTP/1.1\" 200 5\n");
  EXPECT_EQ(suggestion.skipped, 1U);
  EXPECT_THAT(SuggestionText(suggestion, {"ip"}, ""), HasSubstr("--key"));
}

}  // namespace
}  // namespace sluice::replay
