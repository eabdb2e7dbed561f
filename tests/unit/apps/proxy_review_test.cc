#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rule_review.h"

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
  ReviewForProxies(config.listeners, *set, findings);
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
  EXPECT_THAT(warnings,
              HasSubstr("rules.yaml:4:10: rule keyed: proxies do not send user_id, so this rule "
                        "never limits their requests: name the header"));
  EXPECT_THAT(warnings, HasSubstr("rule denied: proxies do not send user_id, so this rule "
                                  "denies all their requests: name the header that has it in the "
                                  "listener's proxy: {trusted_headers: {user_id: ...}}"));
  EXPECT_THAT(warnings, HasSubstr("rule matched: proxies do not send user_id, so this rule "
                                  "never applies to their requests"));
  EXPECT_THAT(warnings, HasSubstr("rule spent: proxies do not send tokens, so this rule "
                                  "refuses all their requests"));
}

TEST(ProxyReviewTest, AHeaderOfAnyListenerTellsIt) {
  EXPECT_EQ(WarningsOf("listeners: [{proxy: {headers: {user_id: X-User}}}, "
                       "{address: '127.0.0.1:1', proxy: {headers: {tokens: X-Tokens}}}]"),
            "");
}

TEST(ProxyReviewTest, ApplicationsMaySayWhatTheyLike) {
  EXPECT_EQ(WarningsOf("listeners: [{address: '127.0.0.1:1'}]"), "");
}

// What is found for one rule: "error: ..." or "warning: ..." lines.
std::string ReviewOf(const std::string& listeners, const std::string& rule) {
  rules::Findings findings;
  const DaemonConfig config =
      ReadDaemonConfig("listeners: [" + listeners + "]", "sluice.yaml", findings);
  const rules::SourceText source{.name = "rules.yaml", .text = "rules: [{id: r, " + rule + "}]"};
  const auto set = rules::RuleSet::Build({&source, 1}, nullptr, findings);
  EXPECT_TRUE(findings.errors.empty()) << findings.errors.front().Text();
  ReviewForProxies(config.listeners, *set, findings);
  std::string lines;
  for (const Error& error : findings.errors) {
    lines += "error: " + error.message + "\n";
  }
  for (const Error& warning : findings.warnings) {
    lines += "warning: " + warning.message + "\n";
  }
  return lines;
}

TEST(ProxyReviewTest, RequestsInFlightThatNobodyEndsAreRefusedOrWarnedOf) {
  const std::string in_flight =
      "key_pattern: '{ip}', algorithm: concurrency, limit: 3, hold_ttl: 30s";
  const std::string proxies = "{proxy: {trusted: [10.0.0.0/8]}}";
  EXPECT_THAT(ReviewOf(proxies, in_flight),
              testing::StartsWith("error: rule r: a proxy does not report the end of a request, so "
                                  "each one that it passes on holds its slot for hold_ttl (30s)"));
  EXPECT_THAT(ReviewOf(proxies + ", {address: '127.0.0.1:6070', role: admin}", in_flight),
              testing::StartsWith("error: "));
  EXPECT_THAT(ReviewOf(proxies, in_flight + ", mode: shadow"), testing::StartsWith("warning: "));
  EXPECT_THAT(ReviewOf(proxies + ", {address: '127.0.0.1:1', protocol: grpc}", in_flight),
              testing::StartsWith("warning: rule r: a proxy does not report"));
  EXPECT_EQ(ReviewOf("{address: '127.0.0.1:1'}", in_flight), "");
  EXPECT_EQ(ReviewOf(proxies, in_flight + ", mode: 'off'"), "");
  // No proxy meets it: that is what is said.
  EXPECT_THAT(ReviewOf(proxies, in_flight + ", match: {job: x}"),
              testing::StartsWith("warning: rule r: proxies do not send job"));
}

TEST(ProxyReviewTest, ATextThatNoStrictPathHasIsWarnedOf) {
  const std::string strict = "{proxy: {paths: strict}}";
  const auto rule = [](const std::string& endpoint) {
    return "match: {endpoint: " + endpoint +
           "}, key_pattern: '{ip}', algorithm: gcra, rate: 1, window: 1s";
  };
  EXPECT_THAT(ReviewOf(strict, rule("/login/")),
              testing::StartsWith("warning: rule r: no path is /login/ where 127.0.0.1:8080 has "
                                  "strict paths: write /login"));
  EXPECT_THAT(ReviewOf(strict, rule("'[/a//b, /ok]'")), HasSubstr("such a path is refused"));
  EXPECT_THAT(ReviewOf(strict, rule("[/a//b, /ok]")), HasSubstr("write /a/b"));
  EXPECT_EQ(ReviewOf(strict, rule("[/login, '/v1/*', /Login, '/a b%', '/x;y']")), "");
  const std::string folding = "{proxy: {paths: {fold_case: true}}}";
  EXPECT_THAT(ReviewOf(folding, rule("[/Login, '/V1/*']")),
              testing::AllOf(HasSubstr("write /login\n"), HasSubstr("write /v1/*\n")));
  EXPECT_EQ(ReviewOf("{proxy: {paths: as_sent}}", rule("/login/")), "");
}

TEST(ProxyReviewTest, ATrustedHeaderTellsItToo) {
  EXPECT_EQ(ReviewOf("{proxy: {trusted_headers: {plan: X-Plan}}}",
                     "key_pattern: '{plan}', algorithm: gcra, rate: 1, window: 1s"),
            "");
}

}  // namespace
}  // namespace sluice::app
