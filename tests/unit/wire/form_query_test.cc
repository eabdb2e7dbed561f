#include "wire/form_query.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sluice::wire {
namespace {

TEST(FormQueryTest, DecodesPathAndQueryEachItsWay) {
  FormQuery query;
  ASSERT_TRUE(query.AddSegment("user_id", "a%2Fb+c"));
  ASSERT_TRUE(query.AddQuery("plan=pro+plus&empty=&bare&&x%3D=%00"));
  const Attributes attributes = query.attributes();
  ASSERT_EQ(attributes.size(), 5U);
  EXPECT_EQ(attributes[0].value, "a/b+c");
  EXPECT_EQ(attributes[1].name, "plan");
  EXPECT_EQ(attributes[1].value, "pro plus");
  EXPECT_EQ(attributes[2].value, "");
  EXPECT_EQ(attributes[3].name, "bare");
  EXPECT_EQ(attributes[4].name, "x=");
  EXPECT_EQ(attributes[4].value, std::string_view("\0", 1));
}

TEST(FormQueryTest, RefusesWhatCouldBeReadTwoWays) {
  for (const char* bad : {"a=%", "a=%4", "a=%zz", "a=1&a=2", "=1", "%61=1&a=2"}) {
    FormQuery query;
    EXPECT_FALSE(query.AddQuery(bad)) << bad;
  }
  std::string many;
  for (int i = 0; i < 65; ++i) {
    many += "a" + std::to_string(i) + "=1&";
  }
  FormQuery query;
  EXPECT_FALSE(query.AddQuery(many));
}

TEST(FormQueryTest, RefusesAPathAboveTheBoundAndCutsNone) {
  FormQuery query;
  ASSERT_TRUE(query.AddPath("endpoint", std::string(1023, 'p') + "%41", {}));
  EXPECT_FALSE(query.AddPath("endpoint", "/", {}));
  EXPECT_FALSE(query.AddPath("other", std::string(1023, 'p') + "%C3%A9", {}));
  // What counts is the length of the value, not of its spelling.
  std::string dots = "/";
  for (int i = 0; i < 600; ++i) {
    dots += "./";
  }
  EXPECT_FALSE(query.AddPath("dots", dots + "a", {}));
  ASSERT_TRUE(query.AddPath("dots", dots + "a", {.strict = true}));
  const Attributes attributes = query.attributes();
  ASSERT_EQ(attributes.size(), 2U);
  EXPECT_EQ(attributes[0].value, std::string(1023, 'p') + "A");
  EXPECT_EQ(attributes[1].value, "/a");
}

TEST(FormQueryTest, AValueThatIsNotEncodedHasTheSameBounds) {
  FormQuery query;
  EXPECT_FALSE(query.AddValue("ip", "\xff"));
  EXPECT_FALSE(query.AddValue("ip", std::string(1025, 'v')));
  EXPECT_TRUE(query.AddValue("ip", "%41+"));
  EXPECT_FALSE(query.AddValue("ip", "1"));
  ASSERT_EQ(query.attributes().size(), 1U);
  EXPECT_EQ(query.attributes()[0].value, "%41+");
}

TEST(FormQueryTest, RefusesWhatNoBodyCouldSay) {
  for (const char* bad : {"user_id=%ff", "%ff=1", "a=%c0%80", "a=%ed%a0%80"}) {
    FormQuery query;
    const auto added = query.AddQuery(bad);
    ASSERT_FALSE(added) << bad;
    EXPECT_THAT(added.error(), testing::HasSubstr("UTF-8"));
  }
  FormQuery query;
  EXPECT_FALSE(query.AddSegment("user_id", "%ff"));
}

TEST(FormQueryTest, TakesWhatABodyMayHoldAndNoMore) {
  const auto takes = [](std::size_t name, std::size_t value) {
    FormQuery query;
    return query.AddQuery(std::string(name, 'n') + "=" + std::string(value, 'v')).has_value();
  };
  EXPECT_TRUE(takes(256, 1024));
  EXPECT_FALSE(takes(257, 1));
  EXPECT_FALSE(takes(1, 1025));
  FormQuery query;
  EXPECT_FALSE(query.AddSegment("user_id", std::string(1025, 'v')));
}

TEST(FormQueryTest, GivesAMemberAwayOnce) {
  FormQuery query;
  ASSERT_TRUE(query.AddQuery("a=1&cost=5&b=2"));
  EXPECT_EQ(query.Remove("cost"), "5");
  EXPECT_EQ(query.Remove("cost"), std::nullopt);
  EXPECT_EQ(query.attributes().size(), 2U);
}

}  // namespace
}  // namespace sluice::wire
