#include "proxy_review.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sluice::app {
namespace {

using testing::HasSubstr;

constexpr std::string_view kRules = R"(
rules:
  - {id: told, match: {endpoint: /login, method: POST}, key_pattern: "{ip} {host}", algorithm: gcra, rate: 1, window: 1s}
  - {id: keyed, key_pattern: "{user_id}", algorithm: gcra, rate: 1, window: 1s}
  - {id: denied, key_pattern: "{user_id}", on_missing: deny, algorithm: gcra, rate: 1, window: 1s}
  - {id: matched, match: {user_id: "a*"}, key_pattern: "{ip}", algorithm: gcra, rate: 1, window: 1s}
  - {id: spent, key_pattern: "{ip}", cost: tokens, algorithm: gcra, rate: 1, window: 1s}
  - {id: asleep, key_pattern: "{user_id}", mode: off, algorithm: gcra, rate: 1, window: 1s}
)";

std::string WarningsOf(const std::string& listeners) {
  rules::Findings findings;
  const DaemonConfig config = ReadDaemonConfig(listeners, "sluice.yaml", findings);
  const rules::SourceText source{.name = "rules.yaml", .text = std::string(kRules)};
  const auto set = rules::RuleSet::Build({&source, 1}, nullptr, findings);
  EXPECT_TRUE(findings.errors.empty()) << findings.errors.front().Text();
  findings.warnings.clear();
  WarnOfUntoldAttributes(config.listeners, *set, findings);
  std::string lines;
  for (const Error& warning : findings.warnings) {
    lines += warning.Text() + "\n";
  }
  return lines;
}

TEST(ProxyReviewTest, SaysWhichRulesNeedWhatProxiesDoNotTell) {
  const std::string warnings = WarningsOf("listeners: [{proxy: {trusted: [10.0.0.0/8]}}]");
  EXPECT_THAT(warnings, testing::Not(HasSubstr("rule told")));
  EXPECT_THAT(warnings, testing::Not(HasSubstr("asleep")));
  EXPECT_THAT(warnings, HasSubstr("rules.yaml:4:10: rule keyed: proxies do not tell user_id of "
                                  "their requests, so it skips them all: name the header"));
  EXPECT_THAT(warnings, HasSubstr("rule denied: proxies do not tell user_id of their requests, so "
                                  "it denies them all"));
  EXPECT_THAT(warnings, HasSubstr("rule matched: proxies do not tell user_id of their requests, "
                                  "so it applies to none of them"));
  EXPECT_THAT(warnings, HasSubstr("rule spent: proxies do not tell tokens of their requests, so "
                                  "it cannot judge them"));
}

TEST(ProxyReviewTest, AHeaderOfAnyListenerTellsIt) {
  EXPECT_EQ(WarningsOf("listeners: [{proxy: {headers: {user_id: X-User}}}, "
                       "{address: '127.0.0.1:1', proxy: {headers: {tokens: X-Tokens}}}]"),
            "");
}

TEST(ProxyReviewTest, ApplicationsMaySayWhatTheyLike) {
  EXPECT_EQ(WarningsOf("listeners: [{address: '127.0.0.1:1'}]"), "");
}

}  // namespace
}  // namespace sluice::app
