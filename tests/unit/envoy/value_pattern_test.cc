#include "envoy/value_pattern.h"

#include <string>

#include <gtest/gtest.h>

namespace sluice::envoy {
namespace {

TEST(WildcardTest, AStarStandsForAnythingOrNothing) {
  EXPECT_TRUE(MatchesWildcard("foo*", "foo"));
  EXPECT_TRUE(MatchesWildcard("foo*", "foobar"));
  EXPECT_TRUE(MatchesWildcard("*", ""));
  EXPECT_TRUE(MatchesWildcard("bar*b", "barb"));
  EXPECT_TRUE(MatchesWildcard("foo*bar*baz", "fooXbarYbaz"));
  EXPECT_TRUE(MatchesWildcard("**", "x"));
  EXPECT_FALSE(MatchesWildcard("foo*", "fo"));
  EXPECT_FALSE(MatchesWildcard("foo*bar*baz", "foobaz"));
  EXPECT_FALSE(MatchesWildcard("a*b", "abc"));
  EXPECT_FALSE(MatchesWildcard("foo", "foox"));
}

TEST(WildcardTest, PrefixAndSuffixDoNotOverlap) {
  EXPECT_FALSE(MatchesWildcard("aba*aba", "aba"));
  EXPECT_FALSE(MatchesWildcard("aba*aba", "ababa"));
  EXPECT_TRUE(MatchesWildcard("aba*aba", "abaaba"));
}

TEST(WildcardTest, APieceIsTakenWhereItFirstOccurs) {
  EXPECT_TRUE(MatchesWildcard("a*bc*d", "abcbcd"));
  EXPECT_FALSE(MatchesWildcard("a*bc*bc", "abc"));
  EXPECT_TRUE(MatchesWildcard("*bc*bc", "bcbc"));
}

TEST(WildcardTest, TakesNoLongerForHostileText) {
  std::string pattern;
  for (int i = 0; i < 200; ++i) {
    pattern += "*a";
  }
  EXPECT_FALSE(MatchesWildcard(pattern + "b", std::string(100'000, 'a')));
  EXPECT_TRUE(MatchesWildcard(pattern, std::string(100'000, 'a')));
}

}  // namespace
}  // namespace sluice::envoy
