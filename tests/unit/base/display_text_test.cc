#include "base/display_text.h"

#include <random>
#include <string>

#include <gtest/gtest.h>

#include "base/utf8.h"

namespace sluice::base {
namespace {

TEST(DisplayTextTest, LeavesWhatPeopleWriteAsItIs) {
  for (const std::string_view text :
       {"/v1/charges?x=1", "日本語のエージェント", "Москва", "naïve", "a\\b", "😀", ""}) {
    EXPECT_EQ(DisplayText(text), text);
  }
}

TEST(DisplayTextTest, WritesOutWhatATerminalWouldObey) {
  EXPECT_EQ(DisplayText("\x1b[31mRED\x1b]0;title\a"), "\\x1b[31mRED\\x1b]0;title\\x07");
  EXPECT_EQ(DisplayText("a\rb\nc\td"), "a\\x0db\\x0ac\\x09d");
  EXPECT_EQ(DisplayText(std::string_view("a\0b", 3)), "a\\x00b");
  EXPECT_EQ(DisplayText("\x7f"), "\\x7f");
  EXPECT_EQ(DisplayText("\xc2\x9b"
                        "31m"),
            "\\u009b31m");  // C1's CSI.
}

TEST(DisplayTextTest, WritesOutWhatHidesOrTurnsALine) {
  EXPECT_EQ(DisplayText("user\u202egpj.exe"), "user\\u202egpj.exe");
  EXPECT_EQ(DisplayText("a\u2066b\u2069c\u200fd"), "a\\u2066b\\u2069c\\u200fd");
  EXPECT_EQ(DisplayText("a\u2028b\u2029c"), "a\\u2028b\\u2029c");
  EXPECT_EQ(DisplayText("a\u200bb\ufeffc\U000e0041"), "a\\u200bb\\ufeffc\\u{e0041}");
}

TEST(DisplayTextTest, WritesOutEachByteThatIsNoUtf8) {
  EXPECT_EQ(DisplayText("a\xff\xfe"), "a\\xff\\xfe");
  EXPECT_EQ(DisplayText("\xe6\x97"), "\\xe6\\x97");  // The first two bytes of three.
  EXPECT_EQ(DisplayText("\xc0\x8a"), "\\xc0\\x8a");  // An overlong line feed.
  EXPECT_EQ(DisplayText("\x9b"
                        "31m"),
            "\\x9b31m");  // C1 in Latin-1.
}

TEST(DisplayTextTest, KeepsLineFeedsOfAMessageOnRequest) {
  EXPECT_EQ(DisplayText("a\nb\x1b", LineFeeds::kKept), "a\nb\\x1b");
}

TEST(DisplayTextTest, CutsBetweenCharactersAndSaysSo) {
  EXPECT_EQ(DisplayText("abcdef", 6), "abcdef");
  EXPECT_EQ(DisplayText("abcdefg", 6), "abcde…");
  EXPECT_EQ(DisplayText("日本語日本語", 7), "日本語…");
  EXPECT_EQ(DisplayText("日本語日本語", 8), "日本語…");  // A half character is none.
  EXPECT_EQ(DisplayText("\x1b\x1b\x1b", 6), "\\x1b\\…");
  EXPECT_EQ(DisplayText("abc", 0), "");
  EXPECT_EQ(DisplayText("abc", 1), "…");
}

TEST(DisplayTextTest, CountsColumnsAsATerminalDoes) {
  EXPECT_EQ(ColumnsOf("abc"), 3U);
  EXPECT_EQ(ColumnsOf("日本"), 4U);
  EXPECT_EQ(ColumnsOf("e\u0301"), 1U);
  EXPECT_EQ(ColumnsOf("😀"), 2U);
}

// Any bytes: what comes out is UTF-8, has nothing to obey in it, keeps its columns, and filtering
// it again changes nothing.
TEST(DisplayTextTest, HoldsForRandomBytes) {
  std::mt19937 random(20261129);  // NOLINT: the same bytes each time.
  const std::string_view pieces[] = {"\x1b", "\xc2", "\x9b", "\xe2\x80", "\xae", "\u202e", "a",
                                     "日",   "\n",   "\xf0", "😀",       "\x7f", "e\u0301"};
  for (int round = 0; round < 5000; ++round) {
    std::string bytes;
    for (auto i = random() % 20; i > 0; --i) {
      bytes += random() % 2 == 0 ? std::string(1, static_cast<char>(random() % 256))
                                 : std::string(pieces[random() % std::size(pieces)]);
    }
    const std::size_t columns = random() % 12;
    const std::string shown = DisplayText(bytes);
    const std::string cut = DisplayText(bytes, columns);
    ASSERT_TRUE(IsUtf8(shown) && IsUtf8(cut));
    ASSERT_LE(ColumnsOf(cut), columns);
    ASSERT_EQ(DisplayText(shown), shown);
    for (std::string_view rest = shown; !rest.empty();) {
      const std::size_t size = Utf8SequenceSize(rest);
      ASSERT_TRUE(IsDisplayable(Utf8CodePoint(rest, size)));
      rest.remove_prefix(size);
    }
  }
}

}  // namespace
}  // namespace sluice::base
