#include "base/number_text.h"

#include <string>

#include <gtest/gtest.h>

namespace sluice {
namespace {

std::string TextOf(std::string_view number) {
  NumberBuffer buffer{};
  return std::string(NumberText(number, buffer));
}

TEST(NumberTextTest, NumbersAreWhatJsonSays) {
  for (const char* const number : {"0", "-0", "5", "-12", "1.5", "1.50", "1e3", "1E+3", "0.5e-7"}) {
    EXPECT_TRUE(IsJsonNumber(number)) << number;
  }
  for (const char* const other : {"", "-", "+5", "007", ".5", "5.", "1e", "1e+", "0x10", "1_000",
                                  "1 ", "1.5.2", "v1", "inf", "nan"}) {
    EXPECT_FALSE(IsJsonNumber(other)) << other;
  }
}

TEST(NumberTextTest, ANumberHasOneTextHoweverItIsWritten) {
  for (const char* const same : {"1.5", "1.50", "15e-1", "0.15E1"}) {
    EXPECT_EQ(TextOf(same), "1.5");
  }
  EXPECT_EQ(TextOf("1e3"), "1000");
  EXPECT_EQ(TextOf("1000"), "1000");
  EXPECT_EQ(TextOf("2.0"), "2");
  EXPECT_EQ(TextOf("-0"), "0");
  EXPECT_EQ(TextOf("-0.0"), "0");
  EXPECT_EQ(TextOf("123456789012345678901234567890"), "123456789012345678901234567890");
  EXPECT_EQ(TextOf("1e999"), "1e999");
}

}  // namespace
}  // namespace sluice
