#include "replay/log_replay.h"

#include <algorithm>
#include <string>

#include <gmock/gmock.h>

#include "unit/replay/replay_fixture.h"

namespace sluice::replay {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class LogReplayTest : public ReplayTest {
 protected:
  const std::string two_a_minute_ =
      "rules:\n  - {id: r, key_pattern: \"ip:{ip}\", algorithm: fixed_window, limit: 2, "
      "window: 1m}\n";
};

TEST_F(LogReplayTest, CountsRequestsAndKeysThatWouldHaveBeenDenied) {
  const ReplayReport report = Run(two_a_minute_, Line(1, 1) + Line(2, 1) + Line(3, 1) + Line(4, 2) +
                                                     Line(5, 1) + Line(60, 1) + Line(61, 3));
  EXPECT_EQ(report.requests, 7U);
  EXPECT_EQ(report.denied, 2U);
  ASSERT_EQ(report.rules.size(), 1U);
  const RuleReport& rule = report.rules.front();
  EXPECT_EQ(rule.requests, 7U);
  EXPECT_EQ(rule.denied, 2U);
  EXPECT_EQ(rule.keys, 3U);
  EXPECT_EQ(rule.keys_denied, 1U);
  ASSERT_EQ(rule.most_denied.size(), 1U);
  EXPECT_EQ(rule.most_denied[0].key, "192.0.2.1");
  EXPECT_EQ(rule.most_denied[0].requests, 5U);
  EXPECT_EQ(rule.most_denied[0].peak, 4);  // In one aligned minute; the fifth is in the next.
  EXPECT_EQ(rule.most_denied[0].first_denied.time_since_epoch(),
            std::chrono::seconds(1'765'962'003));
  EXPECT_EQ(rule.most_denied[0].last_denied.time_since_epoch(),
            std::chrono::seconds(1'765'962'005));
  EXPECT_EQ(rule.busiest.size(), 3U);
  EXPECT_THAT(report.warnings, IsEmpty());
}

TEST_F(LogReplayTest, RunsUnderTheLogsClockWhateverTheOrderOfItsLines) {
  // In order of time: 1, 2, 30 | 62, 63. As written the third would come after the window.
  const ReplayReport report =
      Run(two_a_minute_, Line(62, 1) + Line(1, 1) + Line(2, 1) + Line(63, 1) + Line(30, 1));
  EXPECT_EQ(report.denied, 1U);
  EXPECT_EQ(report.rules[0].most_denied[0].first_denied.time_since_epoch(),
            std::chrono::seconds(1'765'962'030));
  EXPECT_EQ(report.first.time_since_epoch(), std::chrono::seconds(1'765'962'001));
  EXPECT_EQ(report.last.time_since_epoch(), std::chrono::seconds(1'765'962'063));
}

TEST_F(LogReplayTest, DecidesLargeBatchesOfOneSecondInTheirOrder) {
  std::string log;
  for (int i = 0; i < 1'000; ++i) {
    log += Line(5, i % 100);
  }
  const ReplayReport report = Run(two_a_minute_, log);
  EXPECT_EQ(report.rules[0].keys, 100U);
  EXPECT_EQ(report.denied, 800U);
}

TEST_F(LogReplayTest, ShadowRulesAreCountedAndDenyNobody) {
  const ReplayReport report = Run(
      "rules:\n"
      "  - {id: s, key_pattern: all, algorithm: fixed_window, limit: 1, window: 1h, mode: shadow}\n"
      "  - {id: gone, key_pattern: all, algorithm: fixed_window, limit: 1, window: 1h, mode: off}\n"
      "  - {id: p, match: {endpoint: /pay}, key_pattern: \"ip:{ip}\", algorithm: gcra, rate: 1, "
      "window: 1m}\n",
      Line(1, 1) + Line(2, 1, "/pay?x=1") + Line(3, 1, "/pay") + Line(4, 2, "/pay"));
  EXPECT_EQ(report.denied, 1U);
  ASSERT_EQ(report.rules.size(), 2U);
  EXPECT_EQ(report.rules[0].id, "s");
  EXPECT_EQ(report.rules[0].denied, 3U);
  EXPECT_EQ(report.rules[0].busiest[0].key, "");
  EXPECT_EQ(report.rules[1].requests, 3U);
  EXPECT_EQ(report.rules[1].denied, 1U);
}

TEST_F(LogReplayTest, CountsByCost) {
  cost_ = "tokens";
  maps_ = {{"user_id", "account"}};
  const ReplayReport report = Run(
      "rules:\n  - {id: r, key_pattern: \"u:{user_id}\", algorithm: sliding_window_log, limit: "
      "100, window: 1m}\n",
      "time,account,tokens\n1765962001,a,60\n1765962002,a,50\n1765962003,a,40\n1765962004,b,1\n");
  EXPECT_EQ(report.rules[0].requests, 4U);
  EXPECT_EQ(report.rules[0].denied, 1U);
  EXPECT_EQ(report.rules[0].most_denied[0].peak, 150);
}

TEST_F(LogReplayTest, PercentilesAreTheLeastPeakThatSoManyKeysAreAtOrBelow) {
  std::string log;
  for (int host = 1; host <= 9; ++host) {
    log += Line(1, host);
  }
  for (int i = 0; i < 50; ++i) {
    log += Line(1, 10);
  }
  const ReplayReport report =
      Run("rules:\n  - {id: r, key_pattern: \"ip:{ip}\", algorithm: sliding_window_log, limit: 60, "
          "window: 1m}\n",
          log);
  std::vector<Units> peaks;
  for (const RuleReport::Quantile& quantile : report.rules[0].quantiles) {
    peaks.push_back(quantile.peak);
  }
  EXPECT_THAT(peaks, ElementsAre(1, 1, 50, 50, 50));  // 50, 90, 99, 99.9 and 100 %.
}

TEST_F(LogReplayTest, WhatAnotherRuleDeniesIsNoDemand) {
  std::string log;
  for (int i = 0; i < 30; ++i) {
    log += Line(i, 1);
  }
  const ReplayReport report = Run(
      "rules:\n"
      "  - {id: narrow, key_pattern: \"ip:{ip}\", algorithm: fixed_window, limit: 5, window: 1m}\n"
      "  - {id: wide, key_pattern: \"ip:{ip}\", algorithm: fixed_window, limit: 10, window: 1m}\n",
      log);
  EXPECT_EQ(report.rules[0].busiest[0].peak, 30);
  EXPECT_EQ(report.rules[0].denied, 25U);
  EXPECT_EQ(report.rules[1].busiest[0].peak, 5);
  EXPECT_EQ(report.rules[1].denied, 0U);
}

TEST_F(LogReplayTest, SpreadsWholeSecondsWhereAWindowIsShort) {
  std::string log;
  for (int second = 0; second < 120; ++second) {
    for (int i = 0; i < 6; ++i) {
      log += Line(second, 1) + Line(second, 2);
    }
  }
  std::string rules = "rules:\n";
  for (const std::string algorithm :
       {"sliding_window", "sliding_window_counter", "sliding_window_log", "fixed_window"}) {
    rules += "  - {id: " + algorithm + ", key_pattern: \"ip:{ip}\", algorithm: " + algorithm +
             ", limit: 10, window: 1s, mode: shadow}\n";
  }
  const ReplayReport spread = Run(rules, log);
  EXPECT_TRUE(spread.spread);
  EXPECT_EQ(spread.requests, 1440U);
  EXPECT_EQ(spread.logs[0].bad, 0U);
  for (const RuleReport& rule : spread.rules) {
    EXPECT_EQ(rule.denied, 0U) << rule.id;
  }
  options_.spread = false;
  const ReplayReport stamped = Run(rules, log);
  EXPECT_FALSE(stamped.spread);
  EXPECT_GT(stamped.rules[1].denied, 0U);
  options_.spread = true;
  EXPECT_FALSE(Run(two_a_minute_, log).spread);  // A minute is long enough.
}

TEST_F(LogReplayTest, KeepsWhatTheDeniedRequestsWere) {
  options_.profile = true;
  const ReplayReport report =
      Run(two_a_minute_, Line(1, 1) + Line(2, 1) + Line(3, 1, "/a?x") + Line(4, 1, "/a?y") +
                             Line(5, 1, "/b") + Line(6, 2));
  const KeyProfile& profile = report.rules[0].most_denied[0].denied_requests;
  EXPECT_EQ(profile.requests(), 3U);
  EXPECT_EQ(profile.statuses()[2], 3U);
  EXPECT_EQ(profile.endpoint().text, "/a");
  EXPECT_EQ(profile.endpoint().count, 2U);
  EXPECT_EQ(profile.user_agent().count, 0U);  // "-" in the log.
}

TEST_F(LogReplayTest, WarnsOfTimesThatCannotBe) {
  const std::string rules =
      "rules:\n  - {id: r, key_pattern: all, algorithm: gcra, rate: 1, window: 1m}\n";
  EXPECT_THAT(Run(rules, "time,ip\n0,192.0.2.1\n100,192.0.2.1\n").warnings,
              Contains(HasSubstr("--time COLUMN:ms")));
  options_.today = WallInstant(std::chrono::seconds(1'700'000'000));
  EXPECT_THAT(Run(rules, Line(1, 1)).warnings, Contains(HasSubstr("in the future")));
  options_.today = WallInstant(std::chrono::seconds(1'800'000'000));
  EXPECT_THAT(Run(rules, Line(1, 1)).warnings, IsEmpty());
}

TEST_F(LogReplayTest, SaysThatNoRequestHasTheKey) {
  const ReplayReport report =
      Run("rules:\n  - {id: r, key_pattern: \"u:{user_id}\", algorithm: gcra, rate: 1, window: "
          "1m}\n",
          Line(1, 1) + Line(2, 2));
  EXPECT_EQ(report.rules[0].skipped, 2U);
  EXPECT_THAT(report.warnings, Contains(HasSubstr("--map")));
  EXPECT_EQ(report.unmatched, 2U);
}

TEST_F(LogReplayTest, ARequestThatCannotBeJudgedIsABadLine) {
  const ReplayReport report =
      Run("rules:\n  - {id: r, key_pattern: \"ip:{ip}\", algorithm: gcra, rate: 1, window: 1m, "
          "cost: tokens}\n",
          "time,ip,tokens\n1765962001,192.0.2.1,5x\n1765962002,192.0.2.1,1\n");
  EXPECT_EQ(report.requests, 1U);
  EXPECT_EQ(report.logs[0].bad, 1U);
  ASSERT_EQ(report.bad_lines.size(), 1U);
  EXPECT_EQ(report.bad_lines[0].line, 2U);
  EXPECT_THAT(report.bad_lines[0].why, HasSubstr("tokens"));
}

TEST_F(LogReplayTest, WarnsWhenTheTableIsTooSmall) {
  options_.keys = 1;
  std::string log;
  for (int i = 0; i < 4'000; ++i) {
    log += "192.0." + std::to_string(i / 250) + "." + std::to_string(i % 250) +
           " - - [17/Dec/2025:09:00:01 +0000] \"GET / HTTP/1.1\" 200 5\n";
  }
  EXPECT_THAT(Run(two_a_minute_, log).warnings, Contains(HasSubstr("--keys")));
}

TEST_F(LogReplayTest, PrintsALinePerRequestIfAsked) {
  std::string decisions;
  options_.decisions = &decisions;
  Run(two_a_minute_, Line(1, 1) + Line(2, 1) + Line(3, 1));
  EXPECT_EQ(std::ranges::count(decisions, '\n'), 3);
  EXPECT_THAT(decisions, HasSubstr("{\"t_ns\": 1765962003000000000, \"allowed\": false"));
}

TEST_F(LogReplayTest, ComparesEachRuleIfAsked) {
  options_.compare = true;
  const ReplayReport report =
      Run(two_a_minute_ +
              "  - {id: c, key_pattern: all, algorithm: concurrency, limit: 1, hold_ttl: 10s}\n",
          Line(59, 1) + Line(59, 1) + Line(61, 1) + Line(62, 1));
  ASSERT_EQ(report.rules.size(), 2U);
  ASSERT_FALSE(report.rules[0].comparison.empty());
  EXPECT_TRUE(report.rules[0].comparison[0].own);
  EXPECT_EQ(report.rules[0].comparison[0].own_admissions.wrongly_allowed, 2U);
  EXPECT_TRUE(report.rules[1].comparison.empty());
  EXPECT_THAT(report.warnings, Contains(HasSubstr("hold_ttl")));
}

}  // namespace
}  // namespace sluice::replay
