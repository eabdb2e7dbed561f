#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rules/attribute_value.h"
#include "unit/rules/rules_fixture.h"

namespace sluice::rules {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

std::string Rules(const std::string& hash) {
  return "attributes: {api_key: {hash: " + hash + R"(}}
rules:
  - {id: all, key_pattern: "{api_key}", algorithm: fixed_window, limit: 5, window: 1h,
     overrides: {sk_live_42: {limit: 9}}}
  - {id: live, match: {api_key: "sk_live_*"}, key_pattern: "{api_key}", algorithm: gcra,
     limit: unlimited}
)";
}

std::string Text(const ValueHash& hash, std::string_view attribute, std::string_view value) {
  const ValueHash::Text text = hash.TextOf(attribute, value);
  return {text.data(), text.size()};
}

// What keys were made of yesterday, and what another node makes today: a change loses their state.
TEST(ValueHashTest, TheTextOfAValueNeverChanges) {
  EXPECT_EQ(Text(ValueHash(), "api_key", "sk_live_42"), "h1:05cd0596c1aac274e97aa493af929c92");
  EXPECT_EQ(Text(ValueHash("0123456789abcdef"), "api_key", "sk_live_42"),
            "h1:19690a432b51de5195dc7e9e74a47830");
}

TEST(ValueHashTest, ValuesAttributesAndSecretsAreKeptApart) {
  EXPECT_NE(Text({}, "a", "b"), Text({}, "a", "c"));
  EXPECT_NE(Text({}, "a", "b"), Text({}, "b", "b"));
  EXPECT_NE(Text({}, "a", "bc"), Text({}, "ab", "c"));
  EXPECT_NE(Text(ValueHash("0123456789abcdef"), "a", "b"), Text({}, "a", "b"));
}

TEST(ValueHashTest, AKeyHoldsTheHashAndMatchesAndOverridesSeeTheValue) {
  const Built built = BuildText(Rules("true"));
  ASSERT_THAT(built.errors(), IsEmpty());
  const Matched matched = MatchOn(*built.set, {{"api_key", "sk_live_42"}});
  ASSERT_THAT(matched.ids(), ElementsAre("all", "live"));
  EXPECT_EQ(matched.only().quota.limit, 9);
  EXPECT_EQ(matched.key(), "api_key=" + Text({}, "api_key", "sk_live_42"));
  EXPECT_EQ(MatchOn(*built.set, {{"api_key", "sk_test_1"}}).only().quota.limit, 5);
}

TEST(ValueHashTest, ASecretMakesOtherKeysThanNone) {
  const Built with = BuildText(Rules("{secret: a-secret-of-the-fleet}"));
  ASSERT_THAT(with.errors(), IsEmpty());
  EXPECT_EQ(MatchOn(*with.set, {{"api_key", "k"}}).key(),
            "api_key=" + Text(ValueHash("a-secret-of-the-fleet"), "api_key", "k"));
}

TEST(ValueHashTest, AnAddressIsHashedByItsBlock) {
  const Built built = BuildText(R"(
attributes: {ip: {type: ip, hash: true}}
rules: [{id: r, match: {ip: {cidr: "2001:db8::/32"}}, key_pattern: "{ip}", algorithm: gcra,
         limit: unlimited}]
)");
  ASSERT_THAT(built.errors(), IsEmpty());
  const std::string key = MatchOn(*built.set, {{"ip", "2001:db8::1"}}).key();
  EXPECT_EQ(key, "ip=" + Text({}, "ip", "2001:db8::/64"));
  EXPECT_EQ(MatchOn(*built.set, {{"ip", "[2001:db8::2]:443"}}).key(), key);
}

// What an operator sees, and all that he has: the text of the key.
TEST(ValueHashTest, AnOperatorMayGiveTheHashOfAValue) {
  const Built built = BuildText(Rules("true"));
  ASSERT_THAT(built.errors(), IsEmpty());
  const std::string hash = Text({}, "api_key", "sk_live_42");
  const Request request(Pairs{{"api_key", hash}});
  Matches matches;
  ASSERT_TRUE(built.set->Match(request.get(), {}, {}, matches, {.secrets = Secrets::kMayBeHashes}));
  ASSERT_EQ(matches.applied().size(), 1U);  // The match of the other asks for the value.
  EXPECT_EQ(matches.applied()[0].rule->id, "all");
  EXPECT_EQ(matches.applied()[0].parts[0].value, hash);
  EXPECT_EQ(matches.applied()[0].quota.limit, 9);
  // A caller who sends a hash is one more value.
  EXPECT_EQ(MatchOn(*built.set, {{"api_key", hash}}).key(), "api_key=" + Text({}, "api_key", hash));
}

TEST(ValueHashTest, TheKeyOfARuleIsFoundWithoutItsMatch) {
  const Built built = BuildText(Rules("true"));
  const std::string hash = Text({}, "api_key", "sk_live_42");
  const Request request(Pairs{{"api_key", hash}});
  Matches matches;
  ASSERT_TRUE(built.set->Match(
      request.get(), {}, {}, matches,
      {.only = built.set->Find("live"), .secrets = Secrets::kMayBeHashes, .by_key = true}));
  ASSERT_EQ(matches.applied().size(), 1U);
  EXPECT_EQ(matches.applied()[0].rule->id, "live");
  EXPECT_EQ(matches.applied()[0].parts[0].value, hash);
}

TEST(ValueHashTest, TheHashOfAnAddressIsNoAddressAndNoFault) {
  const Built built = BuildText(R"(
attributes: {ip: {type: ip, hash: true}}
rules: [{id: r, key_pattern: "{ip}", algorithm: gcra, limit: unlimited}]
)");
  const std::string hash = Text({}, "ip", "192.0.2.1");
  const Request request(Pairs{{"ip", hash}});
  Matches matches;
  ASSERT_TRUE(built.set->Match(request.get(), {}, {}, matches, {.secrets = Secrets::kMayBeHashes}));
  EXPECT_EQ(matches.applied()[0].parts[0].value, hash);
  EXPECT_FALSE(built.set->Match(request.get(), {}, {}, matches));
}

TEST(ValueHashTest, OnlyWhatHasTheFormOfAHashIsOne) {
  EXPECT_TRUE(ValueHash::IsText("h1:05cd0596c1aac274e97aa493af929c92"));
  EXPECT_FALSE(ValueHash::IsText("h1:05cd0596c1aac274e97aa493af929c9"));
  EXPECT_FALSE(ValueHash::IsText("h1:05CD0596c1aac274e97aa493af929c92"));
  EXPECT_FALSE(ValueHash::IsText("h2:05cd0596c1aac274e97aa493af929c92"));
}

TEST(ValueHashTest, AnExplanationDoesNotShowTheValue) {
  const Built built = BuildText(Rules("true"));
  const Request request(Pairs{{"api_key", "sk_test_1"}});
  for (const auto& each : built.set->Explain(request.get(), {}, {})) {
    EXPECT_THAT(each.why, Not(HasSubstr("sk_test_1")));
  }
}

TEST(ValueHashTest, AChangeOfTheSecretStartsFreshAndSaysSo) {
  const Built before = BuildText(Rules("true"));
  const Built next = BuildText(Rules("{secret: a-secret-of-the-fleet}"), before.set.get());
  EXPECT_THAT(next.warnings(), ::testing::Each(HasSubstr("declared differently")));
  EXPECT_THAT(next.warnings(), Not(IsEmpty()));
}

TEST(ValueHashTest, WhatIsNoSecretIsRefused) {
  EXPECT_THAT(BuildText(Rules("{secret: short}")).errors(),
              ElementsAre(HasSubstr("shorter than 16 bytes")));
  EXPECT_THAT(BuildText(Rules("{}")).errors(), ElementsAre(HasSubstr("hash has no secret")));
  EXPECT_THAT(BuildText(Rules("yes")).errors(), ElementsAre(HasSubstr("write true or false")));
  EXPECT_THAT(BuildText(Rules("{key: x}")).errors(), Not(IsEmpty()));
}

}  // namespace
}  // namespace sluice::rules
