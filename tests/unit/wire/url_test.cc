#include "wire/url.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sluice::wire {
namespace {

using testing::ElementsAre;
using testing::Pair;

TEST(UrlTest, DecodesEscapes) {
  EXPECT_EQ(DecodePercent("u%5f42%2F%C3%a4", UrlPart::kPath), "u_42/ä");
  EXPECT_EQ(DecodePercent("a+b", UrlPart::kPath), "a+b");
  EXPECT_EQ(DecodePercent("a+b%2B", UrlPart::kQuery), "a b+");
  EXPECT_EQ(DecodePercent("%2541", UrlPart::kPath), "%41");  // Once.
  EXPECT_EQ(DecodePercent("", UrlPart::kPath), "");
}

TEST(UrlTest, RefusesBadEscapes) {
  for (const char* text : {"%", "%4", "a%4", "%zz", "%4g", "%-1", "%00", "%ff", "%c0%80", "%+1"}) {
    EXPECT_FALSE(DecodePercent(text, UrlPart::kPath)) << text;
  }
}

TEST(UrlTest, ReadsQueriesInOrder) {
  EXPECT_THAT(*ReadQuery("user_id=u_42&plan=pro"),
              ElementsAre(Pair("user_id", "u_42"), Pair("plan", "pro")));
  EXPECT_THAT(*ReadQuery("&a&&b=&c=d=e&%61=+&"),
              ElementsAre(Pair("a", ""), Pair("b", ""), Pair("c", "d=e"), Pair("a", " ")));
  EXPECT_TRUE(ReadQuery("")->empty());
}

TEST(UrlTest, RefusesBadQueries) {
  EXPECT_FALSE(ReadQuery("=a"));
  EXPECT_FALSE(ReadQuery("a=%"));
  EXPECT_FALSE(ReadQuery("%g=1"));
  EXPECT_FALSE(ReadQuery("a&b&c", 2));
  EXPECT_TRUE(ReadQuery("a&b", 2));
}

TEST(UrlTest, ReadsBackWhatItEncodes) {
  std::string all;
  for (char c = 1; c < 127; ++c) {
    all.push_back(c);
  }
  all += "ä😀";
  std::string encoded;
  AppendPercentEncoded(encoded, all);
  EXPECT_EQ(encoded.find_first_of(" /?#&+=\""), std::string::npos);
  EXPECT_EQ(DecodePercent(encoded, UrlPart::kQuery), all);
}

}  // namespace
}  // namespace sluice::wire
