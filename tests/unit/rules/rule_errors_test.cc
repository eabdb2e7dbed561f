#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/rules/rules_fixture.h"

namespace sluice::rules {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

const std::vector<std::string> kWindow{"algorithm: fixed_window", "limit: 5", "window: 1h"};
const std::vector<std::string> kBucket{"algorithm: token_bucket", "rate: 5", "window: 1h"};

std::vector<std::string> With(std::vector<std::string> lines, const std::string& more) {
  lines.push_back(more);
  return lines;
}

// One wrong line, and where and what the one error must say.
struct Wrong {
  std::string line;
  std::string place;
  std::string says;
  bool bucket = false;
};

TEST(RuleErrorsTest, EachNamesItsPlaceAndTheRemedy) {
  const std::vector<Wrong> wrongs{
      {"perid: 1m", "r.yaml:7:5: ", "unknown field perid"},
      {"key: user_id", "r.yaml:7:5: ", "unknown field key: write key_pattern, as in"},
      {"period: 1m", "r.yaml:7:5: ", "unknown field period: write window"},
      {"capacity: 5", "r.yaml:7:5: ", "unknown field capacity: write burst"},
      {"shpe: true", "r.yaml:7:5: ", "did you mean shape?"},
      {"on_mising: deny", "r.yaml:7:5: ", "did you mean on_missing?"},
      {"mode: enforced", "r.yaml:7:11: ", "did you mean enforce?"},
      {"mode: false", "r.yaml:7:11: ", "write off"},
      {"on_missing: fail", "r.yaml:7:17: ", "write skip or deny"},
      {"on_store_error: closed", "r.yaml:7:21: ", "write allow, deny or local"},
      {"ban: 5", "r.yaml:7:10: ", "ban must be a map"},
      {"ban: {after: 0, within: 1m, for: 15m}", "r.yaml:7:18: ", "write 1 to 10000 denials"},
      {"ban: {after: 20, within: 0s, for: 15m}", "r.yaml:7:30: ", "from 1ms"},
      {"ban: {after: 20, within: 1m}", "r.yaml:7:10: ", "for is missing"},
      {"ban: {after: 20, within: 1m, fro: 15m, for: 15m}", "r.yaml:7:34: ", "did you mean for?"},
      {"reservation_ttl: 0s", "r.yaml:7:22: ", "from 1ms"},
      {"action: refuse", "r.yaml:7:13: ", "write limit, allow or deny"},
      {"action: limit\n    limit: 5", "r.yaml:8:5: ", "key limit is given twice"},
      {"time_zone: UTC", "r.yaml:7:5: ", "needs a calendar period"},
      {"anchor: 15", "r.yaml:7:5: ", "needs a calendar period"},
      {"unit: minute", "r.yaml:7:5: ", "window and unit mean the same"},
      {"rate: 5", "r.yaml:7:5: ", "rate is not a field of fixed_window: write limit"},
      {"burst: 5", "r.yaml:7:5: ", "burst is not a field of fixed_window"},
      {"segments: 4", "r.yaml:7:5: ", "belongs to sliding_window"},
      {"strict: true", "r.yaml:7:5: ", "belongs to sliding_window"},
      {"shape: true", "r.yaml:7:5: ", "belongs to leaky_bucket"},
      {"hold_ttl: 5s", "r.yaml:7:5: ", "belongs to concurrency"},
      {"reserve: {critical: 20%}", "r.yaml:7:5: ", "belongs to concurrency"},
      {"limit: 7", "r.yaml:7:5: ", "key limit is given twice (first in line 5)"},
      {"cost: -1", "r.yaml:7:11: ", "cannot be negative"},
      {"cost: 1.5", "r.yaml:7:11: ", "without fraction"},
      {"cost: a b", "r.yaml:7:11: ", "cost: write request"},
      {"match: /login", "r.yaml:7:12: ", "match must be a map"},
      {"match: {ip: {cidr: 10.1.2.3/16}}", "r.yaml:7:24: ", "did you mean 10.1.0.0/16?"},
      {"match: {ip: {cidr: 10.0.0.0/33}}", "r.yaml:7:24: ", "not an address block"},
      {"match: {ip: {cidr: [10.0.0.0/8, \"2001:db8::1/32\"]}}",
       "r.yaml:7:37: ", "did you mean 2001:db8::/32?"},
      {"match: {ip: ten}", "r.yaml:7:17: ", "is of type ip, and ten is not an address"},
      {"match: {ip: 10.0.0.0/8}", "r.yaml:7:17: ", "write {cidr: 10.0.0.0/8}"},
      {"match: {path: {regex: '(a'}}", "r.yaml:7:27: ", "does not compile"},
      {"match: {path: {regex: '(?=a)'}}", "r.yaml:7:27: ", "does not compile"},
      {"match: {path: {regx: a}}", "r.yaml:7:20: ", "did you mean regex?"},
      {"match: {path: {regex: a, cidr: 10.0.0.0/8}}", "r.yaml:7:19: ", "either"},
      {"match: {path: []}", "r.yaml:7:19: ", "empty list"},
      {"match: {path: [[a]]}", "r.yaml:7:20: ", "a list in a list"},
      {"match: {path: null}", "r.yaml:7:19: ", "is empty"},
      {"match: {\"a b\": x}", "r.yaml:7:13: ", "no spaces"},
      {"formerly: r", "r.yaml:7:15: ", "is this rule itself"},
      {"formerly: a/b", "r.yaml:7:15: ", "an id has 1 to 64"},
      {"formerly: [old, r]", "r.yaml:7:21: ", "is this rule itself"},
      {"formerly: [old, older, old]", "r.yaml:7:28: ", "is named twice"},
      {"formerly: []", "r.yaml:7:15: ", "a list of 1 to 8"},
      {"formerly: [a, b, c, d, e, f, g, h, i]", "r.yaml:7:15: ", "a list of 1 to 8"},
      {"replaces: [r]", "r.yaml:7:16: ", "is this rule itself"},
      {"replaces: [x]", "r.yaml:7:16: ", "there is no rule x"},
      {"replaces: x", "r.yaml:7:15: ", "must be a list"},
      {"sync: async", "r.yaml:7:11: ", "write exact, lease or local"},
      {"sync: local\n    ban: {after: 2, within: 1s, for: 1s}", "r.yaml:7:11: ", "leave ban out"},
      {"retry_jitter: 5", "r.yaml:7:19: ", "write 5s for seconds"},
      {"plans: {}", "r.yaml:7:12: ", "plans must be a list"},
      {"plans: [{limit: 3}]", "r.yaml:7:13: ", "match is missing"},
      {"plans: [{match: {plan: a}}]", "r.yaml:7:13: ", "changes nothing"},
      {"plans: [{match: {plan: a}, rate: 3}]", "r.yaml:7:32: ", "not a field of fixed_window"},
      {"plans: [{match: {plan: a}, window: 3s, limit: 3}]",
       "r.yaml:7:32: ", "unknown field window"},
      {"plans: [{match: {plan: a}, limit: -3}]", "r.yaml:7:39: ", "cannot be negative"},
      {"overrides: [u]", "r.yaml:7:16: ", "must be a map"},
      {"overrides: {u: 5}", "r.yaml:7:20: ", "an override is a map"},
      {"overrides: {u: {}}", "r.yaml:7:20: ", "changes nothing"},
      {"overrides: {u: {limt: 5}}", "r.yaml:7:21: ", "did you mean limit?"},
      {"overrides: {u: {limit: 5}, u: {limit: 6}}", "r.yaml:7:32: ", "key u is given twice"},
      {"overrides: {null: {limit: 5}}", "r.yaml:7:17: ", "write it in quotes"},
      {"<<: {limit: 5}", "r.yaml:7:5: ", "merge keys"},
      {"limit: 5", "r.yaml:7:5: ", "write rate and burst, or limit: unlimited", true},
      {"burst: 1e3", "r.yaml:7:12: ", "without fraction or exponent", true},
      {"burst: \"7\"", "r.yaml:7:12: ", "without quotes", true},
      {"burst: -7", "r.yaml:7:12: ", "cannot be negative", true},
      {"burst: 1000000000000000", "r.yaml:7:12: ", "largest number is 999999999999999", true},
      {"burst: 1e15", "r.yaml:7:12: ", "without fraction or exponent", true},
      {"burst: ten", "r.yaml:7:12: ", "a whole number from 0", true},
      {"burst:", "r.yaml:7:5: ", "a whole number from 0", true},
      {"burst: 010", "r.yaml:7:12: ", "leading zeros", true},
      {"burst: unlimited", "r.yaml:7:12: ", "limit: unlimited", true},
      {"burst: 999999999999999", "r.yaml:7:12: ", "36500d to refill", true},
  };
  for (const Wrong& wrong : wrongs) {
    const Built built = BuildRule(With(wrong.bucket ? kBucket : kWindow, wrong.line));
    EXPECT_EQ(built.set, nullptr) << wrong.line;
    EXPECT_THAT(built.errors(), ElementsAre(AllOf(StartsWith(wrong.place), HasSubstr(wrong.says))))
        << wrong.line;
  }
}

TEST(RuleErrorsTest, AKeyByAnotherNameIsOneError) {
  const Built built = BuildText(R"(rules:
  - {id: r, key: user_id, algorithm: token_bucket, rate: 5, window: 1m}
)");
  EXPECT_THAT(built.errors(),
              ElementsAre(AllOf(StartsWith("r.yaml:2:13: "),
                                HasSubstr("write key_pattern, as in key_pattern: \"{user_id}\""))));
}

TEST(RuleErrorsTest, ARateWithItsUnitIsTakenApart) {
  struct Case {
    std::string rate;
    std::string says;
  };
  for (const Case& one : std::vector<Case>{{"3/m", "write rate: 3 and window: 1m"},
                                           {"100r/s", "write rate: 100 and window: 1s"},
                                           {"5 per hour", "write rate: 5 and window: 1h"},
                                           {"10/day", "write rate: 10 and window: 1d"},
                                           {"3/fortnight", "write a whole number"}}) {
    EXPECT_THAT(
        BuildRule({"algorithm: token_bucket", "window: 1m", "rate: " + one.rate}).errors(),
        ElementsAre(AllOf(StartsWith("r.yaml:6:11: rate is " + one.rate), HasSubstr(one.says))));
  }
  EXPECT_THAT(BuildRule({"algorithm: fixed_window", "window: 1m", "limit: 3/m"}).errors(),
              ElementsAre(HasSubstr("write limit: 3 and window: 1m")));
}

TEST(RuleErrorsTest, ARuleIsNeverSuggestedToReplaceItself) {
  EXPECT_THAT(BuildRule(With(kBucket, "replaces: [x]")).errors(),
              ElementsAre(AllOf(HasSubstr("there is no rule x"), Not(HasSubstr("did you mean")))));
}

TEST(RuleErrorsTest, ARuleThatOnlyAllowsOrDeniesHasNoNumbers) {
  const Built built = BuildText(R"(rules:
  - {id: a, action: allow, match: {ip: 192.0.2.1}, limit: 5}
  - {id: b, action: deny, match: {ip: 192.0.2.1}, key_pattern: x}
  - {id: c, action: deny}
  - {id: d, action: deny, match: {ip: 192.0.2.1}, mode: shadow, replaces: [e]}
  - {id: e, action: allow, match: {ip: {cidr: [192.0.2.0/24, 198.51.100.0/24]}}}
)");
  EXPECT_THAT(
      built.errors(),
      ElementsAre(AllOf(StartsWith("r.yaml:2:52: "), HasSubstr("limit is not a field")),
                  AllOf(StartsWith("r.yaml:3:51: "), HasSubstr("key_pattern is not a field")),
                  AllOf(StartsWith("r.yaml:4:5: "), HasSubstr("match is missing"))));
}

TEST(RuleErrorsTest, ARateWithoutWindowIsNamedAtTheRate) {
  EXPECT_THAT(BuildRule({"algorithm: token_bucket", "rate: 100"}).errors(),
              ElementsAre("r.yaml:5:5: rate 100 has no window: add one, such as window: 1m"));
  EXPECT_THAT(BuildRule({"limit: 100", "algorithm: fixed_window"}).errors(),
              ElementsAre("r.yaml:4:5: limit 100 has no window: add one, such as window: 1m"));
  EXPECT_THAT(BuildRule({"limit: 100", "algorithm: concurrency"}).errors(),
              ElementsAre(HasSubstr("hold_ttl is missing")));
}

TEST(RuleErrorsTest, WhatCannotBeLentSaysSo) {
  const auto error_of = [](std::vector<std::string> lines) {
    lines.emplace_back("sync: lease");
    return BuildRule(lines).errors();
  };
  EXPECT_THAT(
      error_of({"algorithm: concurrency", "limit: 5", "hold_ttl: 5s"}),
      ElementsAre(HasSubstr("r.yaml:7:11: sync: lease cannot be combined with concurrency")));
  EXPECT_THAT(error_of({"algorithm: sliding_window_log", "limit: 5", "window: 1m"}),
              ElementsAre(HasSubstr("or algorithm: sliding_window")));
  EXPECT_THAT(
      error_of({"algorithm: leaky_bucket", "rate: 5", "burst: 5", "window: 1m", "shape: true"}),
      ElementsAre(HasSubstr("cannot be combined with shape: true")));
  for (const char* const algorithm : {"fixed_window", "sliding_window", "sliding_window_counter"}) {
    EXPECT_THAT(error_of({std::string("algorithm: ") + algorithm, "limit: 5", "window: 1m"}),
                ElementsAre());
  }
  EXPECT_THAT(error_of({"algorithm: gcra", "rate: 5", "window: 1m"}), ElementsAre());
}

TEST(RuleErrorsTest, WindowsAreJudged) {
  const auto error_of = [](const std::string& window) {
    return BuildRule({"algorithm: sliding_window", "limit: 5", "window: " + window}).errors();
  };
  EXPECT_THAT(error_of("60"),
              ElementsAre(HasSubstr("r.yaml:6:13: window is 60: a unit is missing")));
  EXPECT_THAT(error_of("1w"), ElementsAre(HasSubstr("one of ms, s, m, h, d")));
  EXPECT_THAT(error_of("1h30m"), ElementsAre(HasSubstr("one of ms, s, m, h, d")));
  EXPECT_THAT(error_of("-5s"), ElementsAre(HasSubstr("write a whole number")));
  EXPECT_THAT(error_of("0s"), ElementsAre(HasSubstr("the shortest is 1ms")));
  EXPECT_THAT(error_of("99999999999999999999d"), ElementsAre(HasSubstr("too long")));
  EXPECT_THAT(error_of("40000d"), ElementsAre(HasSubstr("36500d")));
  EXPECT_THAT(error_of("month"), ElementsAre(HasSubstr("only fixed_window supports")));
  EXPECT_THAT(BuildRule({"algorithm: fixed_window", "limit: 5", "unit: month"}).errors(),
              ElementsAre(HasSubstr("window: month")));
}

TEST(RuleErrorsTest, CalendarFaultsPointAtTheirField) {
  EXPECT_THAT(BuildRule({"algorithm: fixed_window", "limit: 5", "window: month",
                         "time_zone: Europe/Berlim"})
                  .errors(),
              ElementsAre(StartsWith("r.yaml:7:16: ")));
  EXPECT_THAT(
      BuildRule({"algorithm: fixed_window", "limit: 5", "window: month", "anchor: 32"}).errors(),
      ElementsAre(StartsWith("r.yaml:7:13: ")));
  EXPECT_THAT(
      BuildRule({"algorithm: fixed_window", "limit: 5", "window: week", "anchor: Montag"}).errors(),
      ElementsAre(StartsWith("r.yaml:7:13: ")));
}

TEST(RuleErrorsTest, AFileNameAmongRulesIsSentToRuleSources) {
  EXPECT_THAT(BuildText("rules: [more.yaml]\n").errors(),
              ElementsAre(HasSubstr("rule_sources: [{files: [more.yaml]}]")));
}

TEST(RuleErrorsTest, WhatIsMissingIsSaid) {
  EXPECT_THAT(BuildText("rules:\n  - algorithm: gcra\n    rate: 1\n    window: 1s\n").errors(),
              ElementsAre("r.yaml:2:5: id is missing: write a name for the rule",
                          HasSubstr("key_pattern is missing")));
  EXPECT_THAT(BuildRule({"limit: 5"}).errors(), ElementsAre(HasSubstr("algorithm is missing")));
  EXPECT_THAT(BuildRule({"algorithm: tokenbucket"}).errors(),
              ElementsAre(HasSubstr("did you mean token_bucket?")));
  EXPECT_THAT(BuildRule({"algorithm: fixed_window", "window: 1s"}).errors(),
              ElementsAre(HasSubstr("limit is missing")));
  EXPECT_THAT(BuildRule({"algorithm: gcra", "window: 1s"}).errors(),
              ElementsAre(HasSubstr("rate is missing")));
  EXPECT_THAT(BuildRule({"algorithm: leaky_bucket", "rate: 5", "window: 1s"}).errors(),
              ElementsAre(HasSubstr("burst is missing")));
}

TEST(RuleErrorsTest, EveryProblemIsReportedAtOnce) {
  const Built built = BuildText(R"(rules:
  - id: "prä"
    key_pattern: "user:{user_id"
    algorithm: token_bucket
    rate: 100
    perid: 1m
    plans:
      - match: {plan: a}
        rate: -1
  - id: ok
    key_pattern: all
    algorithm: fixed_window
    limit: 1.5
    window: 1x
  - 7
)");
  EXPECT_THAT(built.errors(),
              ElementsAre(HasSubstr("r.yaml:6:5: unknown field perid"), HasSubstr("r.yaml:2:9: id"),
                          HasSubstr("r.yaml:3:18: key_pattern"),
                          HasSubstr("r.yaml:5:5: rate 100 has no window"),
                          HasSubstr("r.yaml:9:15: rate is -1"), HasSubstr("r.yaml:13:12: limit"),
                          HasSubstr("r.yaml:14:13: window"), HasSubstr("r.yaml:15:5: a rule is")));
}

TEST(RuleErrorsTest, IdsThatNoHeaderCouldCarryAreRefused) {
  for (const std::string id : {"\"prä\"", "\"a\\\"b\"", "\"a\\nb\"", "\"\"", "a/b", "[a]"}) {
    EXPECT_THAT(BuildText("rules:\n  - id: " + id +
                          "\n    key_pattern: x\n    algorithm: gcra\n    limit: unlimited\n")
                    .errors(),
                ElementsAre(StartsWith("r.yaml:2:9: id")))
        << id;
  }
  EXPECT_THAT(BuildText("rules: [{id: " + std::string(64, 'a') +
                        ", key_pattern: x, algorithm: gcra, limit: unlimited}]")
                  .errors(),
              IsEmpty());
  EXPECT_THAT(BuildText("rules: [{id: " + std::string(65, 'a') +
                        ", key_pattern: x, algorithm: gcra, limit: unlimited}]")
                  .errors(),
              ElementsAre(HasSubstr("an id has 1 to 64")));
}

TEST(RuleErrorsTest, KeyPatternsAreJudged) {
  const auto error_of = [](const std::string& pattern) {
    return BuildText("rules: [{id: r, algorithm: gcra, limit: unlimited, key_pattern: '" + pattern +
                     "'}]")
        .errors();
  };
  EXPECT_THAT(error_of(""), ElementsAre(HasSubstr("empty")));
  EXPECT_THAT(error_of("{a"), ElementsAre(HasSubstr("is not closed")));
  EXPECT_THAT(error_of("{a{b}}"), ElementsAre(HasSubstr("is not closed")));
  EXPECT_THAT(error_of("{{user_id}}"), ElementsAre(HasSubstr("write single braces")));
  EXPECT_THAT(error_of("a}"), ElementsAre(HasSubstr("} without its {")));
  EXPECT_THAT(error_of("{}"), ElementsAre(HasSubstr("not an attribute name")));
  EXPECT_THAT(error_of("{a b}"), ElementsAre(HasSubstr("not an attribute name")));
  EXPECT_THAT(error_of("{a}{a}"), ElementsAre(HasSubstr("given twice")));
  EXPECT_THAT(error_of("user:{{user_id}}"),
              ElementsAre(HasSubstr("\"user:{{user_id}}\": write single braces, {user_id}")));
  EXPECT_THAT(error_of("{a}{b}{c}{d}{e}{f}{g}{h}{i}"), ElementsAre(HasSubstr("more than 8")));
  EXPECT_THAT(
      BuildText("rules: [{id: r, algorithm: gcra, limit: unlimited, key_pattern: {a}}]").errors(),
      ElementsAre(HasSubstr("write it in quotes")));
}

// A request's JSON boolean is the word true: a rule says which text it means.
TEST(RuleErrorsTest, ABooleanThatRequestsTellOtherwiseIsRefused) {
  const auto error_of = [](const std::string& value) {
    return BuildText("rules: [{id: r, action: deny, match: {beta: " + value + "}}]").errors();
  };
  for (const std::string good : {"true", "false", "\"True\"", "'FALSE'", "tRUE", "Trues", "True*",
                                 "on", "Yes", "[true, \"True\"]"}) {
    EXPECT_THAT(error_of(good), IsEmpty()) << good;
  }
  EXPECT_THAT(error_of("True"),
              ElementsAre("r.yaml:1:45: match beta is True: in a JSON request this boolean is "
                          "true: write true, or \"True\" for the exact text"));
  EXPECT_THAT(error_of("[x, FALSE]"), ElementsAre(HasSubstr("write false, or \"FALSE\"")));
  EXPECT_THAT(BuildText("rules: [{id: r, key_pattern: \"{v}\", algorithm: gcra, rate: 5, window: "
                        "1s, overrides: {TRUE: {rate: 7}}}]")
                  .errors(),
              ElementsAre(HasSubstr("write true, or \"TRUE\"")));
}

TEST(RuleErrorsTest, AListOfAllRequestsIsRefused) {
  for (const std::string action : {"allow", "deny"}) {
    EXPECT_THAT(
        BuildText("rules: [{id: r, action: " + action + ", match: {}}]").errors(),
        ElementsAre(HasSubstr("match is empty: say which requests the rule is to " + action)));
    EXPECT_THAT(BuildText("rules: [{id: r, action: " + action + ", match: {u: \"*\"}}]").errors(),
                IsEmpty());
  }
}

// What loads and limits nothing, or not what it seems to.
TEST(RuleErrorsTest, ARuleThatNeverLimitsIsToldOf) {
  const auto warnings_of = [](const std::string& rest) {
    return BuildText("rules: [{id: r, key_pattern: k, algorithm: gcra, rate: 5, window: 1s, " +
                     rest + "}]")
        .warnings();
  };
  EXPECT_THAT(warnings_of("cost: 0"), ElementsAre(HasSubstr("rule r: cost is 0, so the rule")));
  EXPECT_THAT(warnings_of("cost: 1"), IsEmpty());
  for (const std::string star : {"/a/*/b", "/a/**", "\"*.example\"", "[/x, /a*b]"}) {
    EXPECT_THAT(warnings_of("match: {e: " + star + "}"),
                ElementsAre(HasSubstr("is an ordinary character")))
        << star;
  }
  for (const std::string good : {"/a/*", "\"*\"", "/a", "{regex: '/a.*b'}"}) {
    EXPECT_THAT(warnings_of("match: {e: " + good + "}"), IsEmpty()) << good;
  }
}

// A request's JSON number 1.50 is the attribute 1.5: a rule says which text it means.
TEST(RuleErrorsTest, ANumberThatRequestsTellOtherwiseIsRefused) {
  const auto error_of = [](const std::string& value) {
    return BuildText("rules: [{id: r, action: deny, match: {version: " + value + "}}]").errors();
  };
  for (const std::string good : {"5", "1.5", "\"1.50\"", "'1e3'", "007", "+5", "1.", "1.5*",
                                 "v1.50", "123456789012345678901234567890", "[1.5, \"1e3\"]"}) {
    EXPECT_THAT(error_of(good), IsEmpty()) << good;
  }
  EXPECT_THAT(error_of("1.50"),
              ElementsAre("r.yaml:1:48: match version is 1.50: in a JSON request this number is "
                          "1.5: write 1.5, or \"1.50\" for the exact text"));
  EXPECT_THAT(error_of("15e-1"), ElementsAre(HasSubstr("write 1.5, or \"15e-1\"")));
  EXPECT_THAT(error_of("[1e3]"), ElementsAre(HasSubstr("write 1000, or \"1e3\"")));
  EXPECT_THAT(error_of("-0"), ElementsAre(HasSubstr("write 0, or \"-0\"")));
  EXPECT_THAT(BuildText("rules: [{id: r, key_pattern: \"{v}\", algorithm: gcra, rate: 5, window: "
                        "1s, overrides: {2.0: {rate: 7}, \"3.0\": {rate: 8}}}]")
                  .errors(),
              ElementsAre(HasSubstr("the key of an override is 2.0")));
}

TEST(RuleErrorsTest, AReplacedRuleThatIsNotThereIsToldWithTheOnesThatAre) {
  const std::string rest = ", key_pattern: x, algorithm: gcra, limit: unlimited";
  EXPECT_THAT(BuildText("rules:\n- {id: a" + rest + ", replaces: [b]}\n- {id: other" + rest + "}\n")
                  .errors(),
              ElementsAre(HasSubstr("there is no rule b (known: other)")));
  EXPECT_THAT(
      BuildText("rules:\n- {id: a" + rest + ", replaces: [othr]}\n- {id: other" + rest + "}\n")
          .errors(),
      ElementsAre(HasSubstr("there is no rule othr, did you mean other?")));
}

TEST(RuleErrorsTest, IdsAreOneSpaceOverAllSources) {
  const std::string text = "rules: [{id: r, key_pattern: x, algorithm: gcra, limit: unlimited}]";
  EXPECT_THAT(BuildAll({{"a.yaml", text, false}, {"b.yaml", text, false}}).errors(),
              ElementsAre("b.yaml:1:14: id r is taken: the rule in a.yaml:1 has it"));
}

TEST(RuleErrorsTest, FormerlyMayNotNameALiveRuleNorBeClaimedTwice) {
  const auto rule = [](const std::string& id, const std::string& more) {
    return "  - {id: " + id + ", key_pattern: x, algorithm: gcra, limit: unlimited" + more + "}\n";
  };
  EXPECT_THAT(BuildText("rules:\n" + rule("a", ", formerly: b") + rule("b", "")).errors(),
              ElementsAre(HasSubstr("b is an active rule")));
  EXPECT_THAT(
      BuildText("rules:\n" + rule("a", ", formerly: c") + rule("b", ", formerly: c")).errors(),
      ElementsAre(HasSubstr("already a former id of another rule")));
}

TEST(RuleErrorsTest, ReserveSharesAreJudged) {
  const auto error_of = [](const std::string& reserve) {
    return BuildRule({"algorithm: concurrency", "limit: 10", "hold_ttl: 5s", "reserve: " + reserve})
        .errors();
  };
  EXPECT_THAT(error_of("{critical: 20%, high: 30%}"), IsEmpty());
  EXPECT_THAT(error_of("{critical: 20}"), ElementsAre(HasSubstr("a share from 1% to 100%")));
  EXPECT_THAT(error_of("{critical: 0%}"), ElementsAre(HasSubstr("a share from 1% to 100%")));
  EXPECT_THAT(error_of("{critical: 101%}"), ElementsAre(HasSubstr("a share from 1% to 100%")));
  EXPECT_THAT(error_of("{critical: 60%, high: 60%}"), ElementsAre(HasSubstr("add up to 120%")));
  EXPECT_THAT(error_of("20%"), ElementsAre(HasSubstr("must be a map")));
  std::string many = "{p0: 1%";
  for (int i = 1; i < 33; ++i) {
    many += ", p" + std::to_string(i) + ": 1%";
  }
  EXPECT_THAT(error_of(many + "}"), ElementsAre(HasSubstr("more than 32 priorities")));
}

TEST(RuleErrorsTest, AttributeDeclarationsAreJudged) {
  const auto error_of = [](const std::string& text) {
    return BuildText("rules: []\nattributes: " + text).errors();
  };
  EXPECT_THAT(error_of("{peer: {type: ip, v6_prefix: 56, v4_prefix: 24}}"), IsEmpty());
  EXPECT_THAT(error_of("{peer: {type: ipv6}}"), ElementsAre(HasSubstr("write text, ip or host")));
  EXPECT_THAT(error_of("{peer: {type: ip, v6_prefix: 129}}"),
              ElementsAre(HasSubstr("r.yaml:2:42: v6_prefix is 129: write 1 to 128")));
  EXPECT_THAT(error_of("{peer: {v6_prefix: 56}}"), ElementsAre(HasSubstr("is for type: ip")));
  EXPECT_THAT(error_of("{peer: {typ: ip}}"), ElementsAre(HasSubstr("did you mean type?")));
  EXPECT_THAT(BuildAll({{"a", "rules: []\nattributes: {p: {type: ip}}", false},
                        {"b", "rules: []\nattributes: {p: {type: text}}", false}})
                  .errors(),
              ElementsAre(HasSubstr("declared differently")));
}

}  // namespace
}  // namespace sluice::rules
