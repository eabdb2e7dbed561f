#include <gtest/gtest.h>

#include "replay/human_text.h"

namespace sluice::replay {
namespace {

std::string Wrapped(std::string_view text, std::size_t width, std::size_t indent,
                    std::size_t hanging) {
  std::string out;
  AppendWrapped(out, text, width, indent, hanging);
  return out;
}

TEST(TextLayoutTest, WrapsAtBlanksAndBreaksOnlyWhatIsLongerThanALine) {
  EXPECT_EQ(Wrapped("one two three", 80, 2, 0), "  one two three\n");
  EXPECT_EQ(Wrapped("one two three", 9, 2, 1), "  one two\n   three\n");
  EXPECT_EQ(Wrapped("a bcdefghij k", 5, 0, 1), "a\n bcde\n fghi\n j k\n");
  EXPECT_EQ(Wrapped("a part (1.0 %) of it", 13, 0, 0), "a part\n(1.0 %) of it\n");
  EXPECT_EQ(Wrapped("", 10, 2, 2), "");
  EXPECT_EQ(Wrapped("a\x1B[0m", 80, 0, 0), "a\\x1b[0m\n");
}

TEST(TextLayoutTest, TablesCutTheirTextAndStackWhereTooLittleIsLeft) {
  TextTable table({"key", "requests"});
  table.AddRow({std::string(30, 'k'), "1,234"}, "a note");
  table.AddRow({"short", "5"});
  std::string wide;
  table.AppendTo(wide, 60);
  EXPECT_EQ(wide, "  key                             requests\n  " + std::string(30, 'k') +
                      "     1,234  a note\n  short                                  5\n");
  std::string narrow;
  table.AppendTo(narrow, 30);
  EXPECT_EQ(
      narrow,
      "  key                 requests\n  kkkkkkkkkkkkkkkkk\xE2\x80\xA6     1,234\n    a note\n"
      "  short                      5\n");
  std::string stacked;
  table.AppendTo(stacked, 16);
  EXPECT_EQ(stacked,
            "  key\n    requests\n  kkkkkkkkkkkkk\xE2\x80\xA6\n       1,234\n    a note\n  short\n"
            "           5\n");
  std::string lists;
  table.AppendTo(lists, 10);
  EXPECT_EQ(lists,
            "  kkkkkkk\xE2\x80\xA6\n    reques\n    ts\n    1,234\n    a note\n  short\n"
            "    reques\n    ts 5\n");
}

}  // namespace
}  // namespace sluice::replay
