#include <gtest/gtest.h>

#include "wire/http_request.h"

namespace sluice::wire {
namespace {

bool Names(std::vector<std::string_view> values, std::string_view tag,
           TagComparison comparison = TagComparison::kStrong) {
  HttpRequest request;
  for (const std::string_view value : values) {
    request.fields.push_back({"if-match", value});
  }
  return NamesEntity(request, "If-Match", tag, comparison);
}

TEST(EntityTagTest, AListNamesTheTagsInIt) {
  for (const char* list : {R"("a")", R"("b", "a")", R"("a","b")", R"(, "b" , "a" ,)", "*"}) {
    EXPECT_TRUE(Names({list}, R"("a")")) << list;
  }
  EXPECT_TRUE(Names({R"("b")", R"("a")"}, R"("a")"));
}

TEST(EntityTagTest, ATagIsComparedWhole) {
  for (const char* list : {"", "a", R"("b")", R"("ab")", R"("ba")", R"("A")", R"("b" "a")", R"("a)",
                           R"(a")", R"(x"a")", R"("b"x, "a")", R"(w/"a")", "**", R"(" "a" ")"}) {
    EXPECT_FALSE(Names({list}, R"("a")")) << list;
  }
  EXPECT_FALSE(Names({"*"}, ""));
}

TEST(EntityTagTest, AWeakTagIsNamedOnlyByAWeakComparison) {
  EXPECT_FALSE(Names({R"(W/"a")"}, R"("a")"));
  EXPECT_TRUE(Names({R"(W/"a")"}, R"("a")", TagComparison::kWeak));
  EXPECT_TRUE(Names({R"("b", W/"a")"}, R"("a")", TagComparison::kWeak));
}

}  // namespace
}  // namespace sluice::wire
