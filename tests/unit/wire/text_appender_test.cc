#include "wire/text_appender.h"

#include <limits>
#include <string>

#include <gtest/gtest.h>

namespace sluice::wire {
namespace {

constexpr std::int64_t kLowest = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kHighest = std::numeric_limits<std::int64_t>::max();

TEST(DecimalTest, SaysWhatStdToStringSays) {
  for (const std::int64_t number : {std::int64_t{0}, kLowest, kLowest + 1, kHighest}) {
    EXPECT_EQ(Decimal(number).view(), std::to_string(number));
  }
  // Around every power of ten, where the number of digits changes.
  std::int64_t power = 1;
  for (int digits = 1; digits < 19; ++digits, power *= 10) {
    for (const std::int64_t number : {power - 1, power, power + 1, power * 5 + 7}) {
      EXPECT_EQ(Decimal(number).view(), std::to_string(number));
      EXPECT_EQ(Decimal(-number).view(), std::to_string(-number));
    }
  }
  for (int number = 0; number < 1000; ++number) {
    EXPECT_EQ(Decimal(number).view(), std::to_string(number));
  }
}

TEST(DecimalTest, HasAWordForNoNumber) {
  EXPECT_EQ(Decimal::Null().view(), "null");
}

TEST(TextAppenderTest, AppendsBehindWhatIsThere) {
  std::string out = "a";
  TextAppender(out).Add("b").Add(std::string_view("cd")).Add(-7).Add(Decimal::Null()).Add("");
  EXPECT_EQ(out, "abcd-7null");
  TextAppender(out).Add(std::string_view());
  EXPECT_EQ(out, "abcd-7null");
}

TEST(TextAppenderTest, KeepsTheOrderOfTextsOfAnyLength) {
  std::string out;
  std::string expected;
  {
    TextAppender appender(out);
    for (std::size_t size = 0; size < 2500; size += 83) {
      const std::string text(size, static_cast<char>('a' + size % 26));
      appender.Add(text).Add("|").Add(static_cast<std::int64_t>(size));
      expected += text + "|" + std::to_string(size);
    }
  }
  EXPECT_EQ(out, expected);
}

TEST(TextAppenderTest, FillsItsRoomToTheLastByte) {
  for (std::size_t size = 1000; size < 1030; ++size) {
    std::string out;
    TextAppender(out).Add(std::string(size, 'x')).Add(kLowest).Add("end");
    EXPECT_EQ(out, std::string(size, 'x') + std::to_string(kLowest) + "end");
  }
}

}  // namespace
}  // namespace sluice::wire
