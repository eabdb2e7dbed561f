#include <optional>

#include <gtest/gtest.h>

#include "wire/url_encoding.h"

namespace sluice::wire {
namespace {

std::optional<std::string> Decoded(std::string_view text, UrlPart part) {
  std::string out;
  return AppendPercentDecoded(out, text, part) ? std::optional(out) : std::nullopt;
}

TEST(UrlTest, DecodesEscapes) {
  EXPECT_EQ(Decoded("u%5f42%2F%C3%a4", UrlPart::kPath), "u_42/ä");
  EXPECT_EQ(Decoded("a+b", UrlPart::kPath), "a+b");
  EXPECT_EQ(Decoded("a+b%2B", UrlPart::kQuery), "a b+");
  EXPECT_EQ(Decoded("%2541", UrlPart::kPath), "%41");  // Once.
  EXPECT_EQ(Decoded("%00", UrlPart::kPath), std::string(1, '\0'));
  EXPECT_EQ(Decoded("", UrlPart::kPath), "");
}

TEST(UrlTest, DecodesBehindWhatIsThere) {
  std::string out = "\xc3";  // No UTF-8, and not this call's concern.
  EXPECT_TRUE(AppendPercentDecoded(out, "%61", UrlPart::kPath));
  EXPECT_EQ(out,
            "\xc3"
            "a");
}

TEST(UrlTest, RefusesBadEscapes) {
  for (const char* text : {"%", "%4", "a%4", "%zz", "%4g", "%-1", "%ff", "%c0%80", "%+1"}) {
    EXPECT_FALSE(Decoded(text, UrlPart::kPath)) << text;
  }
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
  EXPECT_EQ(Decoded(encoded, UrlPart::kQuery), all);
}

}  // namespace
}  // namespace sluice::wire
