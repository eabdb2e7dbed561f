#include "top_view.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/display_text.h"

namespace sluice::app {
namespace {

using ::testing::HasSubstr;

constexpr const char* kAnswer =
    R"({"scope": "node", "kind": "all", "window": "minute", "window_ms": 40000,
  "now": 1700000100, "rules": [
    {"rule": "a", "total": 10, "keys": [
      {"key": "user_id=u_1", "attributes": {"user_id": "u_1"}, "count": 8, "at_least": 7, "share": 0.8,
       "allowed": 2, "denied": 6, "banned": 0, "shadow": 0, "last": 1700000095},
      {"key": "user_id=xxx...", "count": 2, "share": 0.2, "allowed": 2, "last": 1700000000}]},
    {"rule": "b\u001b", "total": 123456, "keys": [
      {"key": "", "attributes": {}, "count": 123456, "share": 1, "allowed": 123456, "last": 1700000100}]}]})";

TEST(TopViewTest, OrdersTheKeysOfAllRulesByTheirCount) {
  const auto answer = ReadTopAnswer(kAnswer);
  ASSERT_TRUE(answer);
  ASSERT_EQ(answer->rows.size(), 3U);
  EXPECT_EQ(answer->rules, 2U);
  EXPECT_EQ(answer->rows[0].rule, "b\\x1b");
  EXPECT_EQ(answer->rows[0].attributes, "");  // Nothing that could be sent back.
  EXPECT_EQ(answer->rows[1].attributes, R"({"user_id":"u_1"})");
  EXPECT_EQ(answer->rows[2].attributes, "");
  EXPECT_FALSE(ReadTopAnswer("{}"));
  EXPECT_FALSE(ReadTopAnswer("nothing"));
}

TEST(TopViewTest, KeepsTheRowsThatHaveAText) {
  auto answer = ReadTopAnswer(kAnswer);
  Filter("u_1", *answer);
  ASSERT_EQ(answer->rows.size(), 1U);
  EXPECT_EQ(answer->rows[0].key, "user_id=u_1");
}

TEST(TopViewTest, ALineHasItsNumbersAndFits) {
  const auto answer = ReadTopAnswer(kAnswer);
  EXPECT_EQ(HeadingOf(*answer, 80), "keys by decisions in the last 40 s, 2 rules, this node");
  EXPECT_EQ(ColumnTitles(80), "SHARE RATE/s ALLOWED DENIED BANNED SHADOW LAST RULE          KEY");
  EXPECT_EQ(LineOf(answer->rows[1], *answer, 80),
            "  80%    0.2       2      6      -      -   5s a             user_id=u_1");
  EXPECT_EQ(LineOf(answer->rows[0], *answer, 80),
            " 100%   3086    123k      -      -      -  now b\\x1b         (no key)");
  for (const std::size_t columns : {1U, 20U, 46U, 60U, 80U, 200U}) {
    EXPECT_LE(base::ColumnsOf(LineOf(answer->rows[2], *answer, columns)), columns);
    EXPECT_LE(base::ColumnsOf(ColumnTitles(columns)), columns);
  }
}

TEST(TopViewTest, CountsAreShort) {
  EXPECT_EQ(ShortCount(9'999), "9999");
  EXPECT_EQ(ShortCount(10'000), "10.0k");
  EXPECT_EQ(ShortCount(99'940), "99.9k");
  EXPECT_EQ(ShortCount(999'400), "999k");
  EXPECT_EQ(ShortCount(999'600), "1.0M");
  EXPECT_EQ(ShortCount(123e9), "123G");
}

}  // namespace
}  // namespace sluice::app
