#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/rules/rules_fixture.h"

namespace sluice::rules {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// A set of unlimited rules, each "id: further fields".
Built Rules(const std::vector<std::string>& rules) {
  std::string text = "rules:\n";
  for (const std::string& rule : rules) {
    const std::size_t colon = rule.find(':');
    text += "  - {id: " + rule.substr(0, colon) + ", algorithm: fixed_window, limit: 5, window: 1h";
    text += rule.find("key_pattern") == rule.npos ? ", key_pattern: \"{user_id}\"" : "";
    text += rule.size() > colon + 1 ? "," + rule.substr(colon + 1) + "}\n" : "}\n";
  }
  Built built = BuildText(text);
  EXPECT_THAT(built.errors(), IsEmpty()) << text;
  return built;
}

std::vector<std::string> Ids(const Built& built, Pairs pairs, const ModeOverrides& modes = {}) {
  pairs.emplace_back("user_id", "u");
  const Matched matched = MatchOn(*built.set, std::move(pairs), {}, modes);
  EXPECT_EQ(matched.error, "");
  return matched.ids();
}

TEST(MatchTest, TextIsExactAndATrailingStarIsAPrefix) {
  const Built built = Rules({"exact: match: {path: /v1}", "prefix: match: {path: \"/v1/*\"}",
                             "star: match: {path: \"/a*b\"}", "any: match: {path: \"*\"}"});
  EXPECT_THAT(Ids(built, {{"path", "/v1"}}), ElementsAre("exact", "any"));
  EXPECT_THAT(Ids(built, {{"path", "/v1/"}}), ElementsAre("prefix", "any"));
  EXPECT_THAT(Ids(built, {{"path", "/v1/x/y"}}), ElementsAre("prefix", "any"));
  EXPECT_THAT(Ids(built, {{"path", "x/v1/x"}}), ElementsAre("any"));
  EXPECT_THAT(Ids(built, {{"path", "/axb"}}), ElementsAre("any"));
  EXPECT_THAT(Ids(built, {{"path", "/a*b"}}), ElementsAre("star", "any"));
  EXPECT_THAT(Ids(built, {{"path", ""}}), ElementsAre("any"));
  EXPECT_THAT(Ids(built, {}), IsEmpty());
}

TEST(MatchTest, NestedPrefixesAreAllFound) {
  const Built built = Rules({"a: match: {path: \"/a*\"}", "ab: match: {path: \"/ab*\"}",
                             "abc: match: {path: \"/abc*\"}", "abd: match: {path: \"/abd*\"}",
                             "root: match: {path: \"/*\"}", "b: match: {path: \"/b*\"}"});
  EXPECT_THAT(Ids(built, {{"path", "/abcd"}}), ElementsAre("a", "ab", "abc", "root"));
  EXPECT_THAT(Ids(built, {{"path", "/abz"}}), ElementsAre("a", "ab", "root"));
  EXPECT_THAT(Ids(built, {{"path", "/c"}}), ElementsAre("root"));
  EXPECT_THAT(Ids(built, {{"path", "z"}}), IsEmpty());
}

TEST(MatchTest, RegexesAreAnchoredAndManyAreOneAutomaton) {
  std::vector<std::string> rules{"r: match: {path: {regex: '/v[12]'}}"};
  for (int i = 0; i < 20; ++i) {
    rules.push_back("r" + std::to_string(i) + ": match: {path: {regex: '/x" + std::to_string(i) +
                    "(/.*)?'}}");
  }
  for (const Built& built : {Rules({rules[0]}), Rules(rules)}) {
    EXPECT_THAT(Ids(built, {{"path", "/v1"}}), ElementsAre("r"));
    EXPECT_THAT(Ids(built, {{"path", "/v1/"}}), IsEmpty());
    EXPECT_THAT(Ids(built, {{"path", "x/v1"}}), IsEmpty());
  }
  EXPECT_THAT(Ids(Rules(rules), {{"path", "/x7/y"}}), ElementsAre("r7"));
}

TEST(MatchTest, CidrTakesBlocksAndListsOfThem) {
  const Built built = Rules({"ten: match: {ip: {cidr: 10.0.0.0/8}}",
                             "more: match: {ip: {cidr: [10.1.0.0/16, \"2001:db8::/32\"]}}",
                             "one: match: {ip: 10.1.2.3}", "all: match: {ip: {cidr: 0.0.0.0/0}}"});
  EXPECT_THAT(Ids(built, {{"ip", "10.1.2.3"}}), ElementsAre("ten", "more", "one", "all"));
  EXPECT_THAT(Ids(built, {{"ip", "10.1.2.3:443"}}), ElementsAre("ten", "more", "one", "all"));
  EXPECT_THAT(Ids(built, {{"ip", "::ffff:10.1.2.3"}}), ElementsAre("ten", "more", "one", "all"));
  EXPECT_THAT(Ids(built, {{"ip", "10.2.0.0"}}), ElementsAre("ten", "all"));
  EXPECT_THAT(Ids(built, {{"ip", "110.1.2.3"}}), ElementsAre("all"));
  EXPECT_THAT(Ids(built, {{"ip", "2001:db8::1"}}), ElementsAre("more"));
  EXPECT_THAT(Ids(built, {{"ip", "::a01:203"}}), IsEmpty());
}

TEST(MatchTest, AListAcceptsAnyOfItsValuesAndAllAttributesMustHold) {
  const Built built = Rules({"r: match: {method: [POST, PUT, \"P*\"], path: /x, n: 42, b: true}"});
  const Pairs good{{"path", "/x"}, {"n", "42"}, {"b", "true"}};
  const auto with = [&](const std::string& method) {
    Pairs pairs = good;
    pairs.emplace_back("method", method);
    return Ids(built, pairs);
  };
  EXPECT_THAT(with("POST"), ElementsAre("r"));
  EXPECT_THAT(with("PATCH"), ElementsAre("r"));
  EXPECT_THAT(with("GET"), IsEmpty());
  EXPECT_THAT(with("post"), IsEmpty());
  EXPECT_THAT(Ids(built, {{"method", "PUT"}, {"path", "/x"}, {"n", "42"}, {"b", "false"}}),
              IsEmpty());
  EXPECT_THAT(Ids(built, good), IsEmpty());
}

TEST(MatchTest, OfAnAttributeGivenTwiceTheLastCounts) {
  const Built built = Rules({"a: match: {path: /a}", "b: match: {path: /b}"});
  EXPECT_THAT(Ids(built, {{"path", "/a"}, {"path", "/b"}}), ElementsAre("b"));
}

TEST(MatchTest, AKeyIsItsTypedTuple) {
  const Built built = BuildText(R"(
attributes: {peer: {type: ip, v6_prefix: 56}, addr: {type: text}}
rules:
  - {id: a, key_pattern: "u:{user}-{path}", algorithm: gcra, limit: unlimited, match: {t: a}}
  - {id: b, key_pattern: "{ip}{addr}{peer}", algorithm: gcra, limit: unlimited, match: {t: b}}
  - {id: c, key_pattern: everyone, algorithm: gcra, limit: unlimited, match: {t: c}}
)");
  ASSERT_NE(built.set, nullptr);
  EXPECT_EQ(MatchOn(*built.set, {{"t", "a"}, {"user", "a"}, {"path", "b:c"}}).key(),
            "user=a|path=b:c");
  EXPECT_EQ(MatchOn(*built.set, {{"t", "a"}, {"user", "a:b"}, {"path", "c"}}).key(),
            "user=a:b|path=c");
  EXPECT_EQ(MatchOn(*built.set, {{"t", "b"},
                                 {"ip", "192.0.2.1:80"},
                                 {"addr", "192.0.2.1"},
                                 {"peer", "2001:db8:1:2ff::1"}})
                .key(),
            "ip!=192.0.2.1|addr=192.0.2.1|peer!=2001:db8:1:200::/56");
  EXPECT_EQ(MatchOn(*built.set, {{"t", "c"}}).key(), "");
}

TEST(MatchTest, KeysHoldAnyBytesUpToTheirBound) {
  const Built built = Rules({"r:"});
  for (const std::string& value :
       {std::string(), std::string("\0", 1), std::string("\xff"), std::string("a\r\nDEL y"),
        std::string("日本語"), std::string(core::kMaxValueBytes, 'x')}) {
    EXPECT_EQ(MatchOn(*built.set, {{"user_id", value}}).key(), "user_id=" + value);
  }
  EXPECT_THAT(MatchOn(*built.set, {{"user_id", std::string(core::kMaxValueBytes + 1, 'x')}}).error,
              HasSubstr("1025 bytes long; a key value has 1024 at most"));
}

TEST(MatchTest, OnMissingSkipsOrDeniesAndOnlyWhereTheMatchHolds) {
  const Built built =
      Rules({"skip: key_pattern: \"{user_id}{org}\"",
             "deny: key_pattern: \"{org}\", on_missing: deny, match: {path: /login}",
             "lone: key_pattern: \"{org}\", match: {path: /login}"});
  Matched matched = MatchOn(*built.set, {{"user_id", "a"}, {"path", "/login"}});
  ASSERT_THAT(matched.ids(), ElementsAre("deny"));
  EXPECT_TRUE(matched.only().key_missing);
  EXPECT_THAT(matched.only().parts, IsEmpty());
  EXPECT_THAT(matched.matches.skipped(), SizeIs(2));
  matched = MatchOn(*built.set, {{"user_id", "a"}, {"path", "/x"}});
  EXPECT_THAT(matched.ids(), IsEmpty());
  ASSERT_THAT(matched.matches.skipped(), SizeIs(1));
  EXPECT_EQ(matched.matches.skipped()[0].rule->id, "skip");
  EXPECT_EQ(built.set->AttributeNames()[matched.matches.skipped()[0].missing], "org");
  matched = MatchOn(*built.set, {{"user_id", ""}, {"org", ""}, {"path", "/login"}});
  EXPECT_THAT(matched.ids(), ElementsAre("skip", "deny", "lone"));
}

TEST(MatchTest, ReplacedRulesAreTheUnionOverAllThatApply) {
  const Built built =
      Rules({"a:", "b:", "c:", "x: match: {p: \"x*\"}, replaces: [a]",
             "y: match: {p: \"xy*\"}, replaces: [b, x]", "z: match: {p: z}, replaces: [a, b, c]"});
  EXPECT_THAT(Ids(built, {{"p", "-"}}), ElementsAre("a", "b", "c"));
  EXPECT_THAT(Ids(built, {{"p", "x"}}), ElementsAre("b", "c", "x"));
  // x is replaced itself, and what it replaces stays replaced: a union, not a chain.
  EXPECT_THAT(Ids(built, {{"p", "xy"}}), ElementsAre("c", "y"));
  EXPECT_THAT(Ids(built, {{"p", "z"}}), ElementsAre("z"));
}

TEST(MatchTest, AShadowOrAbsentRuleReplacesNothing) {
  const Built built = Rules({"a:", "x: match: {p: x}, replaces: [a]",
                             "k: match: {p: k}, key_pattern: \"{org}\", replaces: [a]"});
  ModeOverrides modes;
  modes.by_rule["x"] = Mode::kShadow;
  EXPECT_THAT(Ids(built, {{"p", "x"}}, modes), ElementsAre("a", "x"));
  modes.by_rule["x"] = Mode::kOff;
  EXPECT_THAT(Ids(built, {{"p", "x"}}, modes), ElementsAre("a"));
  EXPECT_THAT(Ids(built, {{"p", "k"}}), ElementsAre("a"));
}

TEST(MatchTest, ModesComeFromTheRuleThenTheOverrideThenTheGlobalSwitch) {
  const Built built = Rules({"on:", "dark: mode: shadow", "off: mode: off"});
  EXPECT_THAT(Ids(built, {}), ElementsAre("on", "dark"));
  ModeOverrides modes;
  modes.by_rule["off"] = Mode::kEnforce;
  modes.by_rule["on"] = Mode::kOff;
  EXPECT_THAT(Ids(built, {}, modes), ElementsAre("dark", "off"));
  modes.all = Mode::kShadow;
  const Matched matched = MatchOn(*built.set, {{"user_id", "u"}}, {}, modes);
  EXPECT_THAT(matched.ids(), ElementsAre("on", "dark", "off"));
  for (const AppliedRule& applied : matched.matches.applied()) {
    EXPECT_TRUE(applied.shadow);
  }
}

TEST(MatchTest, CostIsTheCallsOrFixedOrAnAttribute) {
  const Built built = Rules(
      {"call:", "said: cost: request", "three: cost: 3", "zero: cost: 0", "tokens: cost: tokens"});
  const Matched matched = MatchOn(*built.set, {{"user_id", "u"}, {"tokens", "250"}}, Cost{7});
  ASSERT_THAT(matched.ids(), SizeIs(5));
  std::vector<Units> costs;
  for (const AppliedRule& applied : matched.matches.applied()) {
    costs.push_back(applied.cost.units);
  }
  EXPECT_THAT(costs, ElementsAre(7, 7, 3, 0, 250));
  for (const char* wrong : {"", "-1", "1.5", "1e3", "ten", "1000000000000000", " 1"}) {
    EXPECT_THAT(MatchOn(*built.set, {{"user_id", "u"}, {"tokens", wrong}}).error,
                HasSubstr("attribute tokens"))
        << wrong;
  }
  EXPECT_EQ(MatchOn(*built.set, {{"user_id", "u"}, {"tokens", "999999999999999"}}).error, "");
  EXPECT_THAT(MatchOn(*built.set, {{"user_id", "u"}}).error, HasSubstr("tokens is missing"));
}

TEST(MatchTest, AShadowRuleFailsNoRequest) {
  const Built built = Rules(
      {"live:", "dark: mode: shadow, cost: tokens", "ip: mode: shadow, key_pattern: \"{ip}\""});
  const Matched matched = MatchOn(*built.set, {{"user_id", "u"}, {"ip", "nonsense"}});
  EXPECT_EQ(matched.error, "");
  EXPECT_THAT(matched.ids(), ElementsAre("live"));
  EXPECT_THAT(matched.matches.skipped(), SizeIs(2));
}

TEST(MatchTest, AnAddressThatIsNoneIsAnErrorOfTheRequest) {
  EXPECT_THAT(MatchOn(*Rules({"r: match: {ip: {cidr: 10.0.0.0/8}}"}).set,
                      {{"user_id", "u"}, {"ip", "nonsense"}})
                  .error,
              HasSubstr("attribute ip is not an IP address"));
  EXPECT_EQ(MatchOn(*Rules({"r:"}).set, {{"user_id", "u"}, {"ip", "nonsense"}}).error, "");
}

TEST(MatchTest, ReservedSlotsLowerTheCeilingOfOthers) {
  const Built built = BuildRule({"algorithm: concurrency", "limit: 10", "hold_ttl: 5s",
                                 "reserve: {critical: 20%, high: 15%}",
                                 "overrides: {big: {limit: 100}, wide: {limit: unlimited}}"});
  ASSERT_NE(built.set, nullptr);
  const auto ceiling = [&](const std::string& user, const std::string& priority) {
    return core::CeilingOf(
        MatchOn(*built.set, {{"user_id", user}, {"priority", priority}}).only().quota);
  };
  EXPECT_EQ(ceiling("u", "critical"), 9);  // 15% of 10 is one whole slot.
  EXPECT_EQ(ceiling("u", "high"), 8);
  EXPECT_EQ(ceiling("u", "low"), 7);
  EXPECT_EQ(ceiling("big", "low"), 65);
  EXPECT_EQ(core::CeilingOf(MatchOn(*built.set, {{"user_id", "u"}}).only().quota), 7);
  EXPECT_EQ(MatchOn(*built.set, {{"user_id", "u"}}).only().quota.window, std::chrono::seconds(5));
  EXPECT_TRUE(MatchOn(*built.set, {{"user_id", "wide"}}).only().quota.unlimited);
}

TEST(MatchTest, ARoomServesSetsOfAnySize) {
  const Built small = Rules({"a:"});
  std::vector<std::string> many;
  for (int i = 0; i < 100; ++i) {
    many.push_back("r" + std::to_string(i) + ": match: {p" + std::to_string(i) + ": x}");
  }
  const Built large = Rules(many);
  Matches matches;
  const Request request({{"user_id", "u"}, {"p99", "x"}});
  for (const Built* built : {&small, &large, &small, &large}) {
    ASSERT_TRUE(built->set->Match(request.get(), {}, {}, matches).has_value());
    EXPECT_EQ(matches.applied().size(), 1U);
  }
}

TEST(MatchTest, ExplainSaysWhyOrWhyNot) {
  const Built built =
      Rules({"plain: overrides: {u: {limit: 9}}", "login: match: {path: /login}, replaces: [plain]",
             "off: mode: off", "org: key_pattern: \"{org}\"",
             "must: key_pattern: \"{org}\", on_missing: deny",
             "plan: plans: [{match: {plan: pro}, limit: 50}]"});
  const auto explain = [&](Pairs pairs) {
    const Request request(std::move(pairs));
    std::vector<std::string> lines;
    for (const auto& e : built.set->Explain(request.get(), {}, {})) {
      lines.push_back(e.rule->id + (e.applies ? "+ " : "- ") + e.why + " " +
                      std::to_string(e.quota.limit));
    }
    return lines;
  };
  EXPECT_THAT(
      explain({{"user_id", "u"}, {"path", "/pay"}, {"plan", "pro"}}),
      ElementsAre("plain+ override of this key 9", "login- match path: /login, and it is /pay 5",
                  "off- its mode is off 5", HasSubstr("org- the request has no org"),
                  HasSubstr("must+ denied"), "plan+ plan with match plan: pro 50"));
  EXPECT_THAT(explain({{"user_id", "u"}, {"path", "/login"}, {"org", "o"}}),
              ElementsAre("plain- replaced by login 5",
                          "login+ match path: /login; the rule's own numbers 5",
                          "off- its mode is off 5", "org+ the rule's own numbers 5",
                          "must+ the rule's own numbers 5", "plan+ the rule's own numbers 5"));
}

TEST(MatchTest, ExplainNamesTheKillSwitchAndNoMode) {
  const Built built = Rules({"plain:", "off: mode: off"});
  const Request request(Pairs{{"user_id", "u"}});
  for (const auto& e :
       built.set->Explain(request.get(), {}, ModeOverrides{.all = Mode::kOff, .by_rule = {}})) {
    EXPECT_FALSE(e.applies);
    EXPECT_EQ(e.why, "the kill switch is on");
  }
}

// Operators look for the numbers in force where they are written.
TEST(MatchTest, ExplainNamesTheLineOfTheNumbersInForce) {
  const Built built = BuildRule({"algorithm: fixed_window", "limit: 10", "window: 1m",
                                 "plans: [{match: {plan: pro}, limit: 20}]",
                                 "overrides:", "  u_42: {limit: 30}", "  u_43: {limit: 40}"});
  ASSERT_TRUE(built.set);
  using NumbersOf = RuleSet::Explanation::NumbersOf;
  const auto of = [&built](const Pairs& pairs) {
    const Request request(pairs);
    return built.set->Explain(request.get(), {}, {})[0];
  };
  const auto own = of({{"user_id", "u_1"}});
  EXPECT_EQ(own.numbers_of, NumbersOf::kRule);
  EXPECT_EQ(own.numbers_place.file, "r.yaml");
  EXPECT_EQ(own.numbers_place.line, 2);
  const auto plan = of({{"user_id", "u_1"}, {"plan", "pro"}});
  EXPECT_EQ(plan.numbers_of, NumbersOf::kPlan);
  EXPECT_EQ(plan.plan, "plan: pro");
  EXPECT_EQ(plan.numbers_place.line, 7);
  const auto override = of({{"user_id", "u_43"}, {"plan", "pro"}});
  EXPECT_EQ(override.numbers_of, NumbersOf::kOverride);
  EXPECT_EQ(override.quota.limit, 40);
  EXPECT_EQ(override.numbers_place.line, 10);
}

}  // namespace
}  // namespace sluice::rules
