#include "signing/mac.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace sluice::signing {
namespace {

std::string HexOf(const Mac::Code& code) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const std::uint8_t byte : code) {
    text += kDigits[byte >> 4U];
    text += kDigits[byte & 15U];
  }
  return text;
}

// RFC 4231, test cases 1, 2 and 6.
TEST(MacTest, IsHmacSha256) {
  const std::vector<std::uint8_t> eleven(20, 0x0b);
  const std::vector<std::uint8_t> jefe{'J', 'e', 'f', 'e'};
  const std::vector<std::uint8_t> long_key(131, 0xaa);
  EXPECT_EQ(HexOf(Mac(eleven).Of("Hi There")),
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
  EXPECT_EQ(HexOf(Mac(jefe).Of("what do ya want for nothing?")),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  EXPECT_EQ(HexOf(Mac(long_key).Of("Test Using Larger Than Block-Size Key - Hash Key First")),
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}

TEST(MacTest, MayBeUsedAgain) {
  const std::vector<std::uint8_t> key(20, 0x0b);
  const Mac mac(key);
  const Mac::Code once = mac.Of("Hi There");
  (void)mac.Of("something else");
  EXPECT_EQ(mac.Of("Hi There"), once);
}

TEST(MacTest, DerivedSecretsDifferByLabelAndOrigin) {
  EXPECT_EQ(Derive("origin", "a"), Derive("origin", "a"));
  EXPECT_NE(Derive("origin", "a"), Derive("origin", "b"));
  EXPECT_NE(Derive("origin", "a"), Derive("Origin", "a"));
}

TEST(MacTest, BytesAreTheSameOnlyIfAllAre) {
  EXPECT_TRUE(SameBytes("abc", "abc"));
  EXPECT_TRUE(SameBytes("", ""));
  EXPECT_FALSE(SameBytes("abc", "abd"));
  EXPECT_FALSE(SameBytes("abc", "ab"));
}

}  // namespace
}  // namespace sluice::signing
