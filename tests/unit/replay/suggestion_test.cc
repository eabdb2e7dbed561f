#include "replay/suggestion.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "base/display_text.h"
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
    auto reader = SuggestionReader::Create(plan_, {"ip"}, {window_}, /*spread=*/true);
    EXPECT_TRUE(reader);
    reader->Run(*logs, [] {});
    return reader->Suggestions(3).front();
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
  // What the rule that is printed, put in force, does to the log.
  RuleReport Replay(const Suggestion& suggestion, const std::string& log) {
    std::string text = SuggestionText(suggestion, {"ip"}, "");
    text = text.substr(text.find("rules:\n"));
    text.replace(text.find("shadow"), 6, "enforce");
    return Run(text, log).rules.at(0);
  }
  const logs::AttributePlan plan_{{"ip"}, {}, ""};
  Duration window_ = std::chrono::minutes(1);
};

TEST_F(SuggestionTest, TouchesNoMoreKeysThanItSays) {
  const Suggestion suggestion = Suggest(Staircase(200));
  EXPECT_EQ(suggestion.keys, 200U);
  EXPECT_EQ(suggestion.highest_peak, 200);
  ASSERT_EQ(suggestion.limits.size(), 3U);
  EXPECT_GE(suggestion.limits[0].limit, 198);  // Two in 200.
  EXPECT_EQ(suggestion.limits[0].keys_touched, 2U);
  EXPECT_EQ(suggestion.limits[0].requests_of_touched, 399U);
  EXPECT_GE(suggestion.limits[1].limit, 200);  // None.
  EXPECT_EQ(suggestion.limits[1].keys_touched, 0U);
  EXPECT_EQ(suggestion.busiest.front().key, "192.0.2.200");
}

TEST_F(SuggestionTest, TheRuleThatIsPrintedDeniesAsManyKeysAsItSays) {
  std::uint64_t draw = 7;
  const auto below = [&draw](std::uint64_t end) {
    draw = (draw * 6'364'136'223'846'793'005U) + 1'442'695'040'888'963'407U;
    return static_cast<int>((draw >> 33U) % end);
  };
  for (const std::int64_t seconds : {1, 10, 60}) {
    window_ = std::chrono::seconds(seconds);
    std::vector<std::string> lines;
    for (int i = 0; i < 4'000; ++i) {
      lines.push_back(Line(i / 4, below(static_cast<std::uint64_t>(1 + below(250)))));
    }
    std::string log;
    for (const std::string& line : lines) {
      log += line;
    }
    Suggestion suggestion = Suggest(log);
    for (const SuggestedLimit& limit : suggestion.limits) {
      suggestion.limits[1] = limit;  // The one that is printed.
      EXPECT_EQ(Replay(suggestion, log).keys_denied, limit.keys_touched) << seconds;
    }
    // One less denies one key more at least: the limit is not raised for nothing.
    SuggestedLimit less = suggestion.limits[2];
    less.limit -= 1;
    suggestion.limits[1] = less;
    EXPECT_GT(Replay(suggestion, log).keys_denied, suggestion.limits[2].keys_touched) << seconds;
  }
}

TEST_F(SuggestionTest, NamesTheGapBelowHeavyClients) {
  std::string log = Staircase(13);
  for (int host = 100; host < 150; ++host) {
    log += Line(30, host);
  }
  for (int host = 200; host < 204; ++host) {
    for (int i = 0; i < 127 + host - 200; ++i) {
      log += Line(i % 59, host);
    }
  }
  const Suggestion suggestion = Suggest(log);
  ASSERT_TRUE(suggestion.gap);
  EXPECT_EQ(suggestion.gap->below, 13);
  EXPECT_EQ(suggestion.gap->above, 127);
  EXPECT_EQ(suggestion.gap->limit.limit, 30);
  EXPECT_EQ(suggestion.gap->limit.keys_touched, 4U);
  EXPECT_THAT(SuggestionText(suggestion, {"ip"}, "", 200),
              HasSubstr("between 13 and 127. A limit of 30 would affect 4 keys, which sent 514 "));
  EXPECT_FALSE(Suggest(Staircase(50)).gap);
}

TEST_F(SuggestionTest, ShowsNoByteThatATerminalObeys) {
  Suggestion suggestion = Suggest(Staircase(3));
  suggestion.busiest[0].key = "\x1B[31mRED\x1B[0m\x1B]0;title\x07\xC2\x9B";
  suggestion.busiest[1].key = std::string(27, 'a') + "\xC3\xA9\xC3\xA9" + std::string(90, 'b');
  for (const std::size_t width : {40U, 80U}) {
    const std::string text = SuggestionText(suggestion, {"user_agent"}, "", width);
    EXPECT_EQ(base::DisplayText(text, base::LineFeeds::kKept), text);
    EXPECT_THAT(text, HasSubstr("\\x1b[31mRED"));
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
  EXPECT_GE(set->rules()[0].quota.limit, 20);
  EXPECT_EQ(set->rules()[0].mode, rules::Mode::kShadow);
}

TEST_F(SuggestionTest, RefusesAKeyThatNoRuleCanHave) {
  EXPECT_FALSE(SuggestionReader::Create(plan_, {"a b\"}"}, {window_}, true));
  EXPECT_FALSE(SuggestionReader::Create(plan_, {"a", "b", "c", "d", "e", "f", "g", "h", "i"},
                                        {window_}, true));
  EXPECT_TRUE(SuggestionReader::Create(plan_, {}, {window_}, true));
}

TEST_F(SuggestionTest, SaysThatNoRequestHasTheKey) {
  const Suggestion suggestion =
      Suggest("h1.example - - [17/Dec/2025:09:05:00 +0000] \"GET / HTTP/1.1\" 200 5\n");
  EXPECT_EQ(suggestion.skipped, 1U);
  EXPECT_THAT(SuggestionText(suggestion, {"ip"}, ""), HasSubstr("--key"));
}

}  // namespace
}  // namespace sluice::replay
