#include "frontend/http/problem.h"

#include <gtest/gtest.h>

#include "frontend/http/form_query.h"

namespace sluice::frontend::http {
namespace {

TEST(ProblemTest, SaysWhatAndWhere) {
  const wire::JsonProblem place{.fault = wire::JsonFault::kCost,
                                .message = "cost must not be negative (line 1, column 10)",
                                .member = "cost",
                                .offset = 9,
                                .line = 1,
                                .column = 10};
  std::string out;
  AppendProblem({.status = 400,
                 .title = {},
                 .detail = place.message,
                 .code = "invalid_cost",
                 .place = &place},
                out);
  const std::string expected =
      R"({"type": "about:blank", "title": "Bad Request", "status": 400, )"
      R"json("detail": "cost must not be negative (line 1, column 10)", )json"
      R"("code": "invalid_cost", "position": {"offset": 9, "line": 1, "column": 10}})";
  EXPECT_EQ(out, expected);
}

TEST(ProblemTest, EscapesWhateverAClientSent) {
  const std::string_view sent("a\"b\\c\n\x01\x7f\0z", 10);
  const std::string escaped = "\"a\\\"b\\\\c\\u000a\\u0001\\u007f\\u0000z\"";
  std::string out;
  AppendJsonString(sent, out);
  EXPECT_EQ(out, escaped);
}

TEST(ProblemTest, ReplacesBytesThatAreNoUtf8) {
  std::string out;
  AppendJsonString("\xff|\xc3\xa4|\xc3|\xed\xa0\x80|\xf0\x9f\x98\x80", out);
  EXPECT_EQ(out,
            "\"\xEF\xBF\xBD|\xc3\xa4|\xEF\xBF\xBD|\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD|"
            "\xf0\x9f\x98\x80\"");
}

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

TEST(FormQueryTest, GivesAMemberAwayOnce) {
  FormQuery query;
  ASSERT_TRUE(query.AddQuery("a=1&cost=5&b=2"));
  EXPECT_EQ(query.Remove("cost"), "5");
  EXPECT_EQ(query.Remove("cost"), std::nullopt);
  EXPECT_EQ(query.attributes().size(), 2U);
}

}  // namespace
}  // namespace sluice::frontend::http
