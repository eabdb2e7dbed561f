#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "daemon_config.h"
#include "rule_review.h"

namespace sluice::app {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

std::string HintsOf(const std::string& rule_texts, const std::string& listeners = "loops: 1\n") {
  rules::Findings findings;
  const DaemonConfig config = ReadDaemonConfig(listeners, "sluice.yaml", findings);
  const rules::SourceText source{.name = "r.yaml", .text = "rules:\n" + rule_texts};
  const auto set = rules::RuleSet::Build({&source, 1}, nullptr, findings);
  EXPECT_TRUE(findings.errors.empty()) << findings.errors.front().Text();
  findings.warnings.clear();
  ReviewForProxies(config.listeners, *set, findings);
  HintAtRules(config.listeners, *set, findings);
  std::string lines;
  for (const Error& warning : findings.warnings) {
    lines += warning.Text() + "\n";
  }
  return lines;
}

std::string HintedRule(const std::string& id, const std::string& rest) {
  return "  - {id: " + id + ", algorithm: gcra, window: 1m, " + rest + "}\n";
}

constexpr const char* kWithProxies = "listeners: [{proxy: {headers: {api_key: X-Api-Key}}}]\n";

TEST(RuleHintsTest, AnotherWordForWhatProxiesTellIsNamed) {
  const std::string path =
      HintedRule("login", "match: {path: /login}, key_pattern: \"{ip}\", rate: 5");
  EXPECT_THAT(HintsOf(path, kWithProxies),
              HasSubstr("rule login: proxies do not send path (did you mean endpoint?), so"));
  EXPECT_THAT(HintsOf(HintedRule("a", "key_pattern: \"{remote_addr}\", rate: 5"), kWithProxies),
              HasSubstr("remote_addr (did you mean ip?)"));
  EXPECT_THAT(HintsOf(HintedRule("a", "key_pattern: \"{apikey}\", rate: 5"), kWithProxies),
              HasSubstr("apikey (did you mean api_key?)"));
  EXPECT_THAT(HintsOf(HintedRule("a", "key_pattern: \"{tenant}\", rate: 5"), kWithProxies),
              AllOf(HasSubstr("proxies do not send tenant,"), Not(HasSubstr("did you mean"))));
}

TEST(RuleHintsTest, CallersOfTheApiNameAttributesAsTheyLike) {
  for (const std::string name : {"path", "uri", "id", "post", "hosts", "ips", "user_id", "plan",
                                 "cost_center", "endpoint", "method", "point", "meta"}) {
    EXPECT_EQ(HintsOf(HintedRule("a", "key_pattern: \"{" + name + "}\", rate: 5")), "") << name;
  }
  EXPECT_THAT(HintsOf(HintedRule("a", "match: {endpiont: /login}, key_pattern: \"{ip}\", rate: 5")),
              HasSubstr("r.yaml:2:10: rule a: attribute endpiont, did you mean endpoint?"));
}

TEST(RuleHintsTest, RulesThatCountOtherThingsThanRequestsAreSuspected) {
  const std::string api = HintedRule("api", "key_pattern: \"{user_id}\", rate: 100");
  const std::string tokens = HintedRule("tokens", "key_pattern: \"{user_id}\", rate: 100000");
  EXPECT_THAT(HintsOf(api + tokens),
              HasSubstr("r.yaml:2:10: rules api and tokens are both charged "
                        "the cost of a request, and tokens allows far more, so its limit is "
                        "never reached. If api counts requests, write cost: 1 in rule api"));
  const std::string one = HintedRule("api", "key_pattern: \"{user_id}\", rate: 100, cost: 1");
  EXPECT_EQ(HintsOf(one + tokens), "");
  const std::string meant =
      HintedRule("api", "key_pattern: \"{user_id}\", rate: 100, cost: request");
  EXPECT_EQ(HintsOf(meant + tokens), "");
  const std::string login =
      HintedRule("login", "match: {endpoint: /login}, key_pattern: \"{user_id}\", rate: 5");
  EXPECT_EQ(HintsOf(login + tokens),
            "");  // It meets few of the other's requests.
  const std::string everybody = HintedRule("all", "key_pattern: all, rate: 100000");
  EXPECT_EQ(HintsOf(api + everybody), "");  // It is shared.
  const std::string day =
      "  - {id: day, key_pattern: \"{user_id}\", algorithm: fixed_window, "
      "limit: 20000, window: 1d}\n";
  EXPECT_EQ(HintsOf(api + day), "");
}

}  // namespace
}  // namespace sluice::app
