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
  std::string out;
  AppendProblem({.status = 400, .title = {}, .detail = "a\"b\xff", .code = {}}, out);
  EXPECT_EQ(out,
            "{\"type\": \"about:blank\", \"title\": \"Bad Request\", \"status\": 400, "
            "\"detail\": \"a\\\"b\xEF\xBF\xBD\"}");
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
