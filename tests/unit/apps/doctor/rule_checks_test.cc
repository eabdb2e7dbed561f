#include "doctor/rule_checks.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sluice::app::doctor {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr std::string_view kGcra = "algorithm: gcra, window: 1m";

// "severity check: seen | follows | remedy" for each finding of these rules.
std::string Found(const std::string& rule_texts) {
  rules::Findings problems;
  const rules::SourceText source{.name = "r.yaml", .text = "rules:\n" + rule_texts};
  const auto set = rules::RuleSet::Build({&source, 1}, nullptr, problems);
  for (const Error& error : problems.errors) {
    ADD_FAILURE() << error.Text();
  }
  std::string lines;
  for (const Finding& finding : set == nullptr ? FindingList() : CheckRules(*set)) {
    lines += std::string(NameOf(finding.severity)) + ' ' + std::string(finding.check) + ": " +
             finding.seen + " | " + finding.follows + " | " + finding.remedy + '\n';
  }
  return lines;
}

std::string PerUser(const std::string& id, const std::string& rest) {
  return "  - {id: " + id + ", key_pattern: \"{user_id}\", " + std::string(kGcra) + ", " + rest +
         "}\n";
}

TEST(RuleChecksTest, OrdinaryRulesCauseNothing) {
  EXPECT_EQ(Found(PerUser("api", "rate: 100, burst: 20") +
                  "  - {id: day, key_pattern: \"{user_id}\", algorithm: fixed_window, limit: 1000, "
                  "window: 1d}\n"
                  "  - {id: all, key_pattern: all, algorithm: gcra, rate: 10000, window: 1m}\n"
                  "  - {id: jobs, key_pattern: \"{org}\", algorithm: concurrency, limit: 5, "
                  "hold_ttl: 1m, reserve: {critical: 20%}}\n"
                  "  - {id: office, action: allow, match: {ip: {cidr: 10.0.0.0/8}}}\n"
                  "  - {id: closed, key_pattern: all, match: {endpoint: /old}, "
                  "algorithm: fixed_window, limit: 0, window: 1m}\n"),
            "");
}

TEST(RuleChecksTest, ACostThatNoQuotaGrantsDeniesEverything) {
  EXPECT_THAT(Found(PerUser("export", "rate: 100, burst: 5, cost: 10")),
              AllOf(HasSubstr("problem cost-above-limit: rule export: a request costs 10"),
                    HasSubstr("burst of at least 10")));
  EXPECT_EQ(Found(PerUser("export", "rate: 100, burst: 10, cost: 10")), "");
  EXPECT_THAT(Found(PerUser("export", "rate: 100, burst: 5, cost: 10, mode: shadow")),
              HasSubstr("warning cost-above-limit"));
  EXPECT_THAT(Found(PerUser("export",
                            "rate: 100, burst: 10, cost: 10, "
                            "plans: [{match: {plan: free}, rate: 10, burst: 9}]")),
              HasSubstr("denies every request that gets these numbers"));
  EXPECT_THAT(Found(PerUser("dry", "rate: 0, burst: 5")), HasSubstr("a rate of 0 never refills"));
}

TEST(RuleChecksTest, RulesThatNeverDenyAreNamed) {
  EXPECT_THAT(Found(PerUser("free", "rate: 10, cost: 0")),
              HasSubstr("warning never-denies: rule free: each request costs 0"));
  EXPECT_THAT(
      Found("  - {id: open, key_pattern: \"{user_id}\", algorithm: gcra, limit: unlimited}\n"),
      HasSubstr("note never-denies: rule open is unlimited"));
  EXPECT_EQ(Found("  - {id: open, key_pattern: \"{user_id}\", algorithm: fixed_window, "
                  "window: 1m, limit: unlimited, "
                  "plans: [{match: {plan: free}, limit: 5}]}\n"),
            "");
}

TEST(RuleChecksTest, AShareOfLessThanOneSlotReservesNothing) {
  const auto jobs = [](const std::string& limit, const std::string& reserve) {
    return Found(
        "  - {id: jobs, key_pattern: \"{org}\", algorithm: concurrency, hold_ttl: 1m, limit: " +
        limit + ", reserve: {" + reserve + "}}\n");
  };
  EXPECT_THAT(jobs("3", "critical: 20%"),
              AllOf(HasSubstr("reserve critical: 20% of a limit of 3 is less than one slot"),
                    HasSubstr("write 34%, which is one slot, or a limit of at least 5")));
  EXPECT_EQ(jobs("3", "critical: 34%"), "");
  EXPECT_EQ(jobs("5", "critical: 20%"), "");
  EXPECT_THAT(jobs("4", "gold: 50%, silver: 50%"),
              HasSubstr("note empty-reserve: rule jobs: all 4 slots are reserved"));
}

TEST(RuleChecksTest, ARuleThatAnotherReplacesForAllItsRequestsNeverCounts) {
  const std::string login = PerUser("login", "rate: 5, match: {endpoint: /login}");
  EXPECT_THAT(Found(login + PerUser("api", "rate: 1000, replaces: [login]")),
              HasSubstr("warning replaced-rule: rule login: api replaces it for all of its"));
  EXPECT_EQ(Found(PerUser("api", "rate: 1000") +
                  PerUser("login", "rate: 5, match: {endpoint: /login}, replaces: [api]")),
            "");
  EXPECT_EQ(Found(login + PerUser("api", "rate: 1000, replaces: [login], mode: shadow")), "");
  EXPECT_THAT(Found(login + "  - {id: open, action: allow, match: {endpoint: \"/log*\"}}\n"),
              HasSubstr("rule login: open allows all of its requests"));
  EXPECT_THAT(Found(login + "  - {id: shut, action: deny, match: {endpoint: \"/log*\"}}\n"),
              HasSubstr("rule login: shut refuses all of its requests"));
  // The rule that replaces is skipped where its own key is missing.
  EXPECT_EQ(
      Found(login + "  - {id: ip, key_pattern: \"{ip}\", algorithm: gcra, rate: 9, window: 1m, "
                    "replaces: [login]}\n"),
      "");
}

TEST(RuleChecksTest, AStricterRuleOverTheSameRequestsHidesALimit) {
  const std::string login = PerUser("login", "rate: 50, match: {endpoint: /login}");
  EXPECT_THAT(Found(PerUser("api", "rate: 10") + login),
              AllOf(HasSubstr("warning unreachable-limit: rule login (50 per 1m"),
                    HasSubstr("login never denies: api denies first")));
  EXPECT_EQ(Found(PerUser("api", "rate: 100") + login), "");
  EXPECT_EQ(Found(PerUser("api", "rate: 10, match: {endpoint: /pay}") + login), "");
  EXPECT_EQ(Found(PerUser("api", "rate: 10, mode: shadow") + login), "");
  EXPECT_EQ(Found(PerUser("api", "rate: 10, plans: [{match: {plan: pro}, rate: 100}]") + login),
            "");
  EXPECT_EQ(Found(PerUser("api", "rate: 10, cost: 1") + login), "");
  EXPECT_EQ(Found(PerUser("api", "rate: 10") +
                  PerUser("login", "rate: 50, match: {endpoint: /login}, replaces: [api]")),
            "");
}

TEST(RuleChecksTest, ALimitForAllTogetherHidesALargerOnePerClient) {
  const std::string all =
      "  - {id: all, key_pattern: all, algorithm: gcra, rate: 10, window: 1m}\n";
  EXPECT_THAT(Found(all + PerUser("each", "rate: 20")), HasSubstr("each never denies"));
  EXPECT_EQ(Found(all + PerUser("each", "rate: 5")), "");
  // Of each user it says nothing how much one address sends.
  EXPECT_EQ(Found(PerUser("each", "rate: 10") +
                  "  - {id: ip, key_pattern: \"{ip}\", algorithm: gcra, rate: 20, window: 1m}\n"),
            "");
}

TEST(RuleChecksTest, OfTwoEqualRulesTheLaterOneIsSuperfluous) {
  EXPECT_THAT(Found(PerUser("first", "rate: 10") + PerUser("second", "rate: 10")),
              AllOf(HasSubstr("rule second ("), testing::Not(HasSubstr("rule first ("))));
}

}  // namespace
}  // namespace sluice::app::doctor
