#include "wire/structured_field.h"

#include <gtest/gtest.h>

namespace sluice::wire {
namespace {

TEST(StructuredFieldTest, WritesCanonicalLists) {
  std::string out;
  SfListWriter list(out);
  list.Member("burst").Param("q", 100).Param("w", 60);
  list.Member("a\"\\").Param("qu", "content-bytes").Param("q", 999'999'999'999'999);
  EXPECT_EQ(out, R"("burst";q=100;w=60, "a\"\\";qu="content-bytes";q=999999999999999)");
}

TEST(StructuredFieldTest, ReadsTheExamplesOfTheDraft) {
  const auto list =
      ParseSfList(R"("peruser";q=65535;qu="content-bytes";w=10;pk=:dHJpYWwxMjEzMjM=:)");
  ASSERT_TRUE(list);
  ASSERT_EQ(list->size(), 1U);
  const SfItem& item = list->front();
  EXPECT_EQ(std::get<std::string>(item.value), "peruser");
  EXPECT_EQ(std::get<std::int64_t>(*item.Param("q")), 65535);
  EXPECT_EQ(std::get<std::string>(*item.Param("qu")), "content-bytes");
  EXPECT_EQ(std::get<SfBytes>(*item.Param("pk")).bytes, "trial121323");
  EXPECT_EQ(item.Param("none"), nullptr);
  EXPECT_EQ(ParseSfList(R"("burst";q=100;w=60,"daily";q=1000;w=86400)")->size(), 2U);
  // Bits beyond the last byte, as in the draft's own sample.
  EXPECT_TRUE(ParseSfList("\"a\";pk=:sdfjLJUOUH==:"));
}

TEST(StructuredFieldTest, ReadsEveryType) {
  const auto list = ParseSfList("  -5, 007 ,\t2.5;a;b=?0;a=1, tok*/:en, *, ?1, ::  ");
  ASSERT_TRUE(list);
  ASSERT_EQ(list->size(), 7U);
  EXPECT_EQ((*list)[0].value, SfBareItem(std::int64_t{-5}));
  EXPECT_EQ((*list)[1].value, SfBareItem(std::int64_t{7}));
  EXPECT_EQ((*list)[2].value, SfBareItem(SfDecimal{2500}));
  ASSERT_EQ((*list)[2].params.size(), 2U);
  EXPECT_EQ((*list)[2].params[0].first, "a");  // The first place, the last value.
  EXPECT_EQ(*(*list)[2].Param("a"), SfBareItem(std::int64_t{1}));
  EXPECT_EQ(*(*list)[2].Param("b"), SfBareItem(false));
  EXPECT_EQ((*list)[3].value, SfBareItem(SfToken{"tok*/:en"}));
  EXPECT_EQ((*list)[4].value, SfBareItem(SfToken{"*"}));
  EXPECT_EQ((*list)[5].value, SfBareItem(true));
  EXPECT_EQ((*list)[6].value, SfBareItem(SfBytes{""}));
  EXPECT_TRUE(ParseSfList("")->empty());
}

TEST(StructuredFieldTest, RefusesWhatIsMalformed) {
  for (const char* text : {",",
                           "1,",
                           "1, ",
                           "1,,2",
                           "1 2",
                           "\"a",
                           "\"a\\x\"",
                           "\"\xc3\xa4\"",
                           "\"\t\"",
                           "1000000000000000",
                           "-",
                           "--1",
                           "1.",
                           "1.2345",
                           "1234567890123.1",
                           ".5",
                           "?2",
                           "?",
                           ":a",
                           ":a:",
                           ":=a=:",
                           "a;",
                           "a;B=1",
                           "a; =1",
                           "a;b=",
                           "(1 2)",
                           "\t1",
                           "@1",
                           "%\"a\"",
                           "1;a=(1)"}) {
    EXPECT_FALSE(ParseSfList(text)) << text;
  }
}

TEST(StructuredFieldTest, TakesTheLengthsThatTheRfcAsksFor) {
  std::string members = "1";
  std::string params = "1";
  for (int i = 0; i < 1023; ++i) {
    members += ", 1";
  }
  for (int i = 0; i < 256; ++i) {
    params += ";k" + std::to_string(i) + "=1";
  }
  EXPECT_EQ(ParseSfList(members)->size(), 1024U);
  EXPECT_EQ(ParseSfList(params)->front().params.size(), 256U);
  EXPECT_TRUE(ParseSfList("\"" + std::string(1024, 'a') + "\""));
}

}  // namespace
}  // namespace sluice::wire
