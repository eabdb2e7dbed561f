#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/calendar.h"
#include "unit/rules/rules_fixture.h"

namespace sluice::rules {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::StartsWith;

core::Quota QuotaOf(const Built& built, Pairs pairs) {
  EXPECT_THAT(built.errors(), IsEmpty());
  const Matched matched = MatchOn(*built.set, std::move(pairs));
  EXPECT_EQ(matched.error, "");
  return matched.only().quota;
}

TEST(PlanTest, TheFirstThatMatchesGivesTheNumbersElseTheRulesOwn) {
  const Built built = BuildRule(
      {"algorithm: fixed_window", "limit: 5", "window: 1h",
       "plans: [{match: {plan: enterprise}, limit: 20}, {match: {plan: 'ent*'}, limit: 8}]"});
  EXPECT_EQ(QuotaOf(built, {{"user_id", "u"}, {"plan", "enterprise"}}).limit, 20);
  EXPECT_EQ(QuotaOf(built, {{"user_id", "u"}, {"plan", "entry"}}).limit, 8);
  EXPECT_EQ(QuotaOf(built, {{"user_id", "u"}, {"plan", "free"}}).limit, 5);
  EXPECT_EQ(QuotaOf(built, {{"user_id", "u"}}).limit, 5);
}

TEST(PlanTest, AStatedBurstStaysAndAnUnstatedOneFollowsTheRate) {
  const std::string changes =
      "plans: [{match: {plan: a}, rate: 20}, {match: {plan: b}, rate: 20, burst: 3}, {match: "
      "{plan: c}, burst: 4}]";
  const Built stated =
      BuildRule({"algorithm: gcra", "rate: 10", "window: 1h", "burst: 15", changes});
  EXPECT_EQ(QuotaOf(stated, {{"user_id", "u"}}).limit, 15);
  EXPECT_EQ(QuotaOf(stated, {{"user_id", "u"}, {"plan", "a"}}).limit, 15);
  EXPECT_EQ(QuotaOf(stated, {{"user_id", "u"}, {"plan", "a"}}).rate, 20);
  EXPECT_EQ(QuotaOf(stated, {{"user_id", "u"}, {"plan", "b"}}).limit, 3);
  EXPECT_EQ(QuotaOf(stated, {{"user_id", "u"}, {"plan", "c"}}).limit, 4);
  EXPECT_EQ(QuotaOf(stated, {{"user_id", "u"}, {"plan", "c"}}).rate, 10);
  const Built unstated = BuildRule({"algorithm: gcra", "rate: 10", "window: 1h", changes});
  EXPECT_EQ(QuotaOf(unstated, {{"user_id", "u"}}).limit, 10);
  EXPECT_EQ(QuotaOf(unstated, {{"user_id", "u"}, {"plan", "a"}}).limit, 20);
}

TEST(PlanTest, AnOverrideWinsOverAPlan) {
  const Built built = BuildRule({"algorithm: gcra", "rate: 10", "window: 1h",
                                 "plans: [{match: {plan: a}, rate: 20, burst: 40}]",
                                 "overrides: {u_42: {rate: 5000}}"});
  EXPECT_EQ(QuotaOf(built, {{"user_id", "u_42"}, {"plan", "a"}}).rate, 5000);
  EXPECT_EQ(QuotaOf(built, {{"user_id", "u_42"}, {"plan", "a"}}).limit, 5000);
  EXPECT_EQ(QuotaOf(built, {{"user_id", "u"}, {"plan", "a"}}).limit, 40);
}

TEST(PlanTest, UnlimitedAndZeroAreNumbersLikeOthers) {
  const Built built = BuildRule({"algorithm: fixed_window", "limit: unlimited", "window: 1h",
                                 "plans: [{match: {plan: blocked}, limit: 0}]"});
  EXPECT_TRUE(QuotaOf(built, {{"user_id", "u"}}).unlimited);
  EXPECT_FALSE(QuotaOf(built, {{"user_id", "u"}, {"plan", "blocked"}}).unlimited);
  EXPECT_EQ(QuotaOf(built, {{"user_id", "u"}, {"plan", "blocked"}}).limit, 0);
  for (const char* algorithm :
       {"fixed_window", "sliding_window_log", "sliding_window_counter", "sliding_window",
        "token_bucket", "gcra", "leaky_bucket", "concurrency"}) {
    EXPECT_TRUE(QuotaOf(BuildRule({std::string("algorithm: ") + algorithm, "limit: unlimited"}),
                        {{"user_id", "u"}})
                    .unlimited);
  }
  EXPECT_THAT(BuildRule({"algorithm: fixed_window", "limit: unlimited",
                         "plans: [{match: {plan: free}, limit: 5}]"})
                  .errors(),
              ElementsAre(HasSubstr("limit 5 has no window: add one")));
  EXPECT_THAT(BuildRule({"algorithm: gcra", "rate: 0", "window: 1s"}).errors(), IsEmpty());
  EXPECT_THAT(BuildRule({"algorithm: gcra", "rate: 5", "burst: 0", "window: 1s"}).errors(),
              IsEmpty());
}

TEST(PlanTest, OverrideKeysAreTextEvenWhereTheyLookLikeNumbers) {
  const Built built =
      BuildRule({"algorithm: fixed_window", "limit: 5", "window: 1h",
                 "overrides: {42: {limit: 7}, 'a b:c': {limit: 3}, '': {limit: 2}}"});
  EXPECT_EQ(QuotaOf(built, {{"user_id", "42"}}).limit, 7);
  EXPECT_EQ(QuotaOf(built, {{"user_id", "a b:c"}}).limit, 3);
  EXPECT_EQ(QuotaOf(built, {{"user_id", ""}}).limit, 2);
  EXPECT_EQ(QuotaOf(built, {{"user_id", "4"}}).limit, 5);
}

TEST(PlanTest, OverrideKeysOfSeveralValuesAreJoinedAndEscaped) {
  const Built built = BuildText(R"(rules:
  - id: r
    key_pattern: "{user}/{path}"
    algorithm: fixed_window
    limit: 5
    window: 1h
    overrides:
      'a:b\:c': {limit: 1}
      'a\:b:c': {limit: 2}
      'a\\:b': {limit: 3}
      'a\:b\\:c': {limit: 4}
)");
  EXPECT_EQ(QuotaOf(built, {{"user", "a"}, {"path", "b:c"}}).limit, 1);
  EXPECT_EQ(QuotaOf(built, {{"user", "a:b"}, {"path", "c"}}).limit, 2);
  EXPECT_EQ(QuotaOf(built, {{"user", "a\\"}, {"path", "b"}}).limit, 3);
  EXPECT_EQ(QuotaOf(built, {{"user", "a"}, {"path", "b"}}).limit, 5);
  // Another tuple of the same letters: a\ and b:c, where the override is of a:b\ and c.
  EXPECT_EQ(QuotaOf(built, {{"user", "a:b\\"}, {"path", "c"}}).limit, 4);
  EXPECT_EQ(QuotaOf(built, {{"user", "a\\"}, {"path", "b:c"}}).limit, 5);
  const auto error_of = [](const std::string& key) {
    return BuildText(
               "rules: [{id: r, key_pattern: '{a}{b}', algorithm: gcra, rate: 1, window: 1s, "
               "overrides: {'" +
               key + "': {rate: 2}}}]")
        .errors();
  };
  EXPECT_THAT(error_of("a"), ElementsAre(HasSubstr("not a key of 2 values")));
  EXPECT_THAT(error_of("a:b:c"), ElementsAre(HasSubstr("not a key of 2 values")));
  EXPECT_THAT(error_of("a:b\\"), ElementsAre(HasSubstr("not a key of 2 values")));
}

TEST(PlanTest, OverrideKeysOfAddressesAreBroughtIntoTheFormOfKeys) {
  const auto built_of = [](const std::string& overrides) {
    return BuildText(
        "rules: [{id: r, key_pattern: '{ip}', algorithm: fixed_window, limit: 5, "
        "window: 1h, overrides: {" +
        overrides + "}}]");
  };
  const Built built = built_of(
      "'::ffff:192.0.2.1': {limit: 1}, '2001:DB8::5': {limit: 2}, '2001:db8:1::/64': {limit: 3}");
  EXPECT_EQ(QuotaOf(built, {{"ip", "192.0.2.1:99"}}).limit, 1);
  EXPECT_EQ(QuotaOf(built, {{"ip", "2001:db8::6"}}).limit, 2);
  EXPECT_EQ(QuotaOf(built, {{"ip", "2001:db8:1::6"}}).limit, 3);
  EXPECT_THAT(built_of("localhost: {limit: 1}").errors(), ElementsAre(HasSubstr("not an address")));
  EXPECT_THAT(built_of("'2001:db8::/32': {limit: 1}").errors(),
              ElementsAre(HasSubstr("grouped by /64, as in 2001:db8::/64")));
  EXPECT_THAT(built_of("192.0.2.1: {limit: 1}, '::ffff:192.0.2.1': {limit: 1}").errors(),
              ElementsAre(HasSubstr("the same key as an earlier one")));
  EXPECT_THAT(BuildText("rules: [{id: r, key_pattern: all, algorithm: gcra, rate: 1, window: 1s, "
                        "overrides: {a: {rate: 2}}}]")
                  .errors(),
              ElementsAre(HasSubstr("key_pattern has no attribute")));
}

TEST(PlanTest, AHundredThousandOverridesAreReadAndFound) {
  std::string text =
      "rules:\n  - id: r\n    key_pattern: '{user_id}'\n    algorithm: fixed_window\n    limit: "
      "5\n    window: 1h\n    overrides:\n";
  for (int i = 0; i < 100'000; ++i) {
    text += "      u_" + std::to_string(i) + ": {limit: " + std::to_string(i) + "}\n";
  }
  const Built built = BuildText(text);
  EXPECT_EQ(QuotaOf(built, {{"user_id", "u_99999"}}).limit, 99999);
}

TEST(PlanTest, WindowsUnitsAndCalendars) {
  const auto window_of = [](const std::string& line) {
    return QuotaOf(BuildRule({"algorithm: fixed_window", "limit: 1", line}), {{"user_id", "u"}})
        .window;
  };
  EXPECT_EQ(window_of("window: 250ms"), std::chrono::milliseconds(250));
  EXPECT_EQ(window_of("window: 10s"), std::chrono::seconds(10));
  EXPECT_EQ(window_of("window: 15m"), std::chrono::minutes(15));
  EXPECT_EQ(window_of("window: 30d"), std::chrono::hours(720));
  EXPECT_EQ(window_of("unit: second"), std::chrono::seconds(1));
  EXPECT_EQ(window_of("unit: minute"), std::chrono::minutes(1));
  EXPECT_EQ(window_of("unit: day"), std::chrono::hours(24));
  const Built built = BuildText(R"(rules:
  - &a {id: a, key_pattern: x, algorithm: fixed_window, limit: 1, window: month, anchor: 15, time_zone: Europe/Berlin}
  - {id: b, key_pattern: x, algorithm: fixed_window, limit: 1, window: month, anchor: 15, time_zone: Europe/Berlin}
  - {id: c, key_pattern: x, algorithm: fixed_window, limit: 1, window: week, anchor: Sunday}
  - {id: d, key_pattern: x, algorithm: fixed_window, limit: 1, window: day}
)");
  ASSERT_THAT(built.errors(), IsEmpty());
  ASSERT_NE(built.set->Find("a")->quota.calendar, nullptr);
  EXPECT_EQ(built.set->Find("a")->quota.calendar, built.set->Find("b")->quota.calendar);
  EXPECT_NE(built.set->Find("c")->quota.calendar, built.set->Find("d")->quota.calendar);
}

TEST(PlanTest, APlanThatCanNeverMatchIsWarnedOf) {
  const auto warnings_of = [](const std::string& match, const std::string& plans) {
    const Built built = BuildRule({"algorithm: fixed_window", "limit: 5", "window: 1h",
                                   "match: " + match, "plans: " + plans});
    EXPECT_THAT(built.errors(), IsEmpty());
    return built.warnings();
  };
  EXPECT_THAT(warnings_of("{a: x}", "[{match: {plan: p}, limit: 1}, {match: {plan: p}, limit: 2}]"),
              ElementsAre(AllOf(StartsWith("r.yaml:8:43: "), HasSubstr("comes first"))));
  EXPECT_THAT(warnings_of("{a: x}",
                          "[{match: {plan: 'p*'}, limit: 1}, {match: {plan: [pa, "
                          "pb], b: y}, limit: 2}]"),
              SizeIs(1));
  EXPECT_THAT(warnings_of("{a: x}", "[{match: {}, limit: 1}, {match: {plan: p}, limit: 2}]"),
              SizeIs(1));
  EXPECT_THAT(warnings_of("{a: x}", "[{match: {a: 'x*'}, limit: 1}, {match: {b: y}, limit: 2}]"),
              SizeIs(1));
  EXPECT_THAT(warnings_of("{a: x}", "[{match: {a: y}, limit: 1}]"),
              ElementsAre(HasSubstr("the rule itself matches a: x")));
  EXPECT_THAT(warnings_of("{ip: {cidr: 10.0.0.0/8}}", "[{match: {ip: 11.0.0.1}, limit: 1}]"),
              SizeIs(1));
  EXPECT_THAT(warnings_of("{a: {regex: 'x+'}}", "[{match: {a: y}, limit: 1}]"), SizeIs(1));
  EXPECT_THAT(warnings_of("{a: 'x*'}", "[{match: {a: 'y*'}, limit: 1}]"), SizeIs(1));
  // What may match is not warned of.
  EXPECT_THAT(warnings_of("{a: [x, y]}",
                          "[{match: {a: y}, limit: 1}, {match: {plan: 'p*', b: z}, limit: 1}, "
                          "{match: {plan: 'p*'}, limit: 2}, {match: {plan: {regex: '.*'}}, limit: "
                          "3}]"),
              IsEmpty());
}

}  // namespace
}  // namespace sluice::rules
