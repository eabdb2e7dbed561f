#include <cstdint>
#include <string>

#include <gtest/gtest.h>

#include "support/counted_new.h"
#include "unit/rules/rules_fixture.h"

namespace sluice::rules {
namespace {

TEST(MatchAllocationTest, AWarmRoomAllocatesNothing) {
  const Built built = BuildText(R"(attributes: {key: {hash: true}}
rules:
  - {id: plain, key_pattern: "{user_id}", algorithm: gcra, rate: 5, window: 1s, overrides: {u: {rate: 6}}}
  - {id: two, key_pattern: "{user_id}{path}", algorithm: gcra, rate: 5, window: 1s, overrides: {'u:x': {rate: 6}}}
  - {id: ip, key_pattern: "{ip}", algorithm: gcra, rate: 5, window: 1s, match: {ip: {cidr: "2001:db8::/32"}}}
  - {id: prefix, key_pattern: "{user_id}", algorithm: gcra, rate: 5, window: 1s, match: {path: "/v1/*"}, cost: tokens}
  - {id: regex, key_pattern: "{user_id}", algorithm: gcra, rate: 5, window: 1s, match: {path: {regex: "/v[0-9]+/.*"}}}
  - {id: plans, key_pattern: "{user_id}", algorithm: gcra, rate: 5, window: 1s, match: {path: "/v1/charges"}, plans: [{match: {plan: pro}, rate: 50}]}
  - {id: replaced, key_pattern: "{user_id}", algorithm: gcra, rate: 5, window: 1s}
  - {id: replacer, key_pattern: "{user_id}", algorithm: gcra, rate: 5, window: 1s, replaces: [replaced]}
  - {id: secret, key_pattern: "{key}", algorithm: gcra, rate: 5, window: 1s, match: {key: "sk_*"}}
  - {id: host, key_pattern: "{host}", algorithm: gcra, rate: 5, window: 1s, match: {host: api.example.with-a-long-name}}
  - {id: skipped, key_pattern: "{absent}", algorithm: gcra, rate: 5, window: 1s}
)");
  ASSERT_NE(built.set, nullptr);
  const Request request({{"user_id", "a user with a rather long name, past any small buffer"},
                         {"path", "/v1/charges"},
                         {"ip", "[2001:db8::1]:443"},
                         {"key", "sk_live_4eC39HqLyjWDarjtT1zdp7dc"},
                         {"host", "API.example.with-a-long-name.:443"},
                         {"plan", "pro"},
                         {"tokens", "12"},
                         {"unread", "x"}});
  Matches matches;
  ModeOverrides modes;
  modes.by_rule["nobody"] = Mode::kOff;
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(built.set->Match(request.get(), {}, modes, matches).has_value());
  }
  ASSERT_EQ(matches.applied().size(), 9U);
  const std::int64_t before = support::AllocationsOfThisThread();
  bool good = true;
  for (int i = 0; i < 100; ++i) {
    good &= built.set->Match(request.get(), {}, modes, matches).has_value();
  }
  EXPECT_EQ(support::AllocationsOfThisThread(), before);
  EXPECT_TRUE(good);
}

}  // namespace
}  // namespace sluice::rules
