#include "frontend/access_token.h"

#include <string>

#include <gtest/gtest.h>

namespace sluice::frontend {
namespace {

TEST(AccessTokenTest, AdmitsTheSecretAndNothingElse) {
  const AccessToken token("secret");
  TokenCheck check(&token);
  EXPECT_TRUE(check.asks());
  EXPECT_TRUE(check.Admits("secret"));
  const std::string padded("secret\0", 7);  // What the zeros behind it would equal.
  for (const std::string& shown :
       {std::string(), std::string("s"), std::string("secre"), std::string("secrets"),
        std::string("Secret"), padded, std::string(kMostTokenBytes + 1, 's')}) {
    EXPECT_FALSE(check.Admits(shown)) << shown;
  }
}

TEST(AccessTokenTest, AReplacedSecretCountsAtOnce) {
  AccessToken token("old and long");
  TokenCheck check(&token);
  EXPECT_TRUE(check.Admits("old and long"));
  token.Set("new");
  EXPECT_FALSE(check.Admits("old and long"));
  EXPECT_FALSE(check.Admits(std::string("new and long")));
  EXPECT_TRUE(check.Admits("new"));
}

TEST(AccessTokenTest, TakesTheLongest) {
  const std::string longest(kMostTokenBytes, 'x');
  const AccessToken token(longest);
  TokenCheck check(&token);
  EXPECT_TRUE(check.Admits(longest));
  EXPECT_FALSE(check.Admits(std::string_view(longest).substr(1)));
}

TEST(AccessTokenTest, WithoutATokenNobodyIsAsked) {
  const TokenCheck check(nullptr);
  EXPECT_FALSE(check.asks());
}

}  // namespace
}  // namespace sluice::frontend
