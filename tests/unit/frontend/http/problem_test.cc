#include <gtest/gtest.h>

#include "frontend/http/response.h"

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

}  // namespace
}  // namespace sluice::frontend::http
