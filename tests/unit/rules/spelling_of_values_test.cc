// One thing, however a request writes it, is one value to rules and one key.

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

std::string Host(std::string_view text) {
  std::string room;
  return std::string(CanonicalHost(text, room));
}

TEST(CanonicalHostTest, CaseDotAndPortAreNoPartOfTheName) {
  for (const char* spelling : {"api.example", "API.example", "aPi.eXample.", "api.example:443",
                               "API.EXAMPLE.:8080", "api.example..", "api.example:"}) {
    EXPECT_EQ(Host(spelling), "api.example") << spelling;
  }
}

TEST(CanonicalHostTest, AnIpv6LiteralHasOneText) {
  for (const char* spelling :
       {"[2001:db8::1]", "[2001:DB8:0:0::1]:443", "2001:db8::1", "[2001:0db8::0001]"}) {
    EXPECT_EQ(Host(spelling), "[2001:db8::1]") << spelling;
  }
  EXPECT_EQ(Host("[::ffff:192.0.2.1]:80"), "192.0.2.1");
  EXPECT_EQ(Host("192.0.2.1:80"), "192.0.2.1");
  EXPECT_EQ(Host("[FE80::1%25eth0]:80"), "[fe80::1%25eth0]");
}

TEST(CanonicalHostTest, NamesBeyondAsciiStayAsTheyAre) {
  EXPECT_EQ(Host("BÜCHER.example"), "bÜcher.example");
  EXPECT_EQ(Host("XN--BCHER-KVA.example"), "xn--bcher-kva.example");
}

TEST(CanonicalHostTest, IsIdempotentOnAnyText) {
  for (const char* text : {"", ".", "..", ":", "[", "]", "[]", "a:b:c", "a:1:2", "[::1", "a.:1",
                           "A..:", "[A]:B", "::", "1.2.3.4.", "\xff.\xff:", "a:1."}) {
    EXPECT_EQ(Host(Host(text)), Host(text)) << text;
  }
}

TEST(SpellingTest, AHostMatchesAndIsCountedInWhateverCase) {
  const Built built = BuildText(R"(
rules:
  - {id: one, match: {host: API.example}, key_pattern: "{host}", algorithm: gcra, limit: unlimited}
  - {id: sub, match: {host: "Admin.*"}, key_pattern: "{host}", algorithm: gcra, limit: unlimited}
)");
  ASSERT_NE(built.set, nullptr);
  for (const char* host : {"api.example", "API.EXAMPLE", "api.example.:443"}) {
    const Matched matched = MatchOn(*built.set, {{"host", host}});
    ASSERT_THAT(matched.ids(), ElementsAre("one")) << host;
    EXPECT_EQ(matched.key(), "host=api.example");
  }
  EXPECT_THAT(MatchOn(*built.set, {{"host", "aDmin.example."}}).ids(), ElementsAre("sub"));
}

TEST(SpellingTest, OverridesByHostAreFoundInWhateverCase) {
  const Built built = BuildText(R"(
rules:
  - {id: r, key_pattern: "{host}", algorithm: fixed_window, limit: 5, window: 1h,
     overrides: {Api.Example: {limit: 7}}}
)");
  ASSERT_NE(built.set, nullptr);
  EXPECT_EQ(MatchOn(*built.set, {{"host", "api.EXAMPLE"}}).only().quota.limit, 7);
}

TEST(SpellingTest, AnotherAttributeMayHoldAHostAndHostMayBeText) {
  const Built built = BuildText(R"(
attributes: {vhost: {type: host}, host: {type: text}}
rules:
  - {id: r, key_pattern: "{vhost}{host}", algorithm: gcra, limit: unlimited}
)");
  ASSERT_NE(built.set, nullptr);
  EXPECT_EQ(MatchOn(*built.set, {{"vhost", "A.b:1"}, {"host", "A.b:1"}}).key(),
            "vhost=a.b|host=A.b:1");
}

TEST(SpellingTest, TheDotOfAnExpressionIsAnyCharacter) {
  std::string text = "rules:\n";
  // One is tried alone; five more are one automaton.
  for (const char* rest : {".*", ".*a", ".*b", ".*c", ".*d", ".*e"}) {
    text += "  - {id: r" + std::to_string(text.size()) + ", match: {endpoint: {regex: '/v[12]/" +
            rest + "'}}, key_pattern: \"{ip}\", algorithm: gcra, limit: unlimited}\n";
    const Built built = BuildText(text);
    ASSERT_NE(built.set, nullptr);
    for (const char* path : {"/v1/x", "/v1/x\n", "/v1/\n/users", "/v2/\r\n"}) {
      EXPECT_THAT(MatchOn(*built.set, {{"endpoint", path}, {"ip", "192.0.2.1"}}).ids(),
                  ::testing::SizeIs(1))
          << path;
    }
  }
}

// RFC 6052, 2.4.
TEST(SpellingTest, ATranslatedAddressIsTheIpv4AddressInIt) {
  const Built built = BuildText(R"(
attributes:
  ip:
    type: ip
    nat64: [64:ff9b::/96, 2001:db8::/32, 2001:db8:100::/40, 2001:db8:122::/48,
            2001:db8:122:300::/56, 2001:db8:122:344::/64]
rules:
  - {id: r, key_pattern: "{ip}", algorithm: gcra, limit: unlimited}
)");
  ASSERT_THAT(built.errors(), IsEmpty());
  const auto key = [&](const char* ip) { return MatchOn(*built.set, {{"ip", ip}}).key(); };
  EXPECT_EQ(key("64:ff9b::192.0.2.33"), "ip!=192.0.2.33");
  EXPECT_EQ(key("64:ff9b::c000:222"), "ip!=192.0.2.34");
  EXPECT_EQ(key("2001:db8:c000:221::"), "ip!=192.0.2.33");
  EXPECT_EQ(key("64:ff9b:1::1"), "ip!=64:ff9b:1::/64");
  EXPECT_EQ(key("192.0.2.33"), "ip!=192.0.2.33");
}

TEST(SpellingTest, EachLengthOfATranslatorsPrefixHasItsPlaceForTheAddress) {
  const struct {
    const char* prefix;
    const char* address;
  } cases[] = {{"2001:db8::/32", "2001:db8:c000:221::"},
               {"2001:db8:100::/40", "2001:db8:1c0:2:21::"},
               {"2001:db8:122::/48", "2001:db8:122:c000:2:2100::"},
               {"2001:db8:122:300::/56", "2001:db8:122:3c0:0:221::"},
               {"2001:db8:122:344::/64", "2001:db8:122:344:c0:2:2100::"},
               {"2001:db8:122:344::/96", "2001:db8:122:344::192.0.2.33"}};
  for (const auto& each : cases) {
    const Built built =
        BuildText(std::string("attributes: {ip: {type: ip, nat64: [\"") + each.prefix + R"("]}}
rules: [{id: r, match: {ip: {cidr: 192.0.2.0/24}}, key_pattern: "{ip}", algorithm: gcra,
         limit: unlimited}]
)");
    ASSERT_THAT(built.errors(), IsEmpty()) << each.prefix;
    const Matched matched = MatchOn(*built.set, {{"ip", each.address}});
    ASSERT_THAT(matched.ids(), ElementsAre("r")) << each.prefix;
    EXPECT_EQ(matched.key(), "ip!=192.0.2.33") << each.prefix;
  }
}

TEST(SpellingTest, APrefixThatNoTranslatorHasIsRefused) {
  for (const char* list :
       {"[64:ff9b::/64, 10.0.0.0/8]", "[64:ff9b::/95]", "[64:ff9b::1/96]", "x"}) {
    EXPECT_THAT(
        BuildText(std::string("attributes: {ip: {type: ip, nat64: ") + list + "}}\nrules: []\n")
            .errors(),
        ::testing::Contains(HasSubstr("nat64")))
        << list;
  }
  EXPECT_THAT(BuildText("attributes: {a: {nat64: [64:ff9b::/96]}}\nrules: []\n").errors(),
              ElementsAre(HasSubstr("nat64 is for type: ip")));
}

}  // namespace
}  // namespace sluice::rules
