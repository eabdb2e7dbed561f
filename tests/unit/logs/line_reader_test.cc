#include "logs/line_reader.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "unit/logs/log_files.h"

namespace sluice::logs {
namespace {

using ::testing::ElementsAre;

class LineReaderTest : public LogFilesTest {
 protected:
  std::vector<std::string> Lines(const std::string& text) {
    LineReader reader(std::move(*ByteSource::Open(Write("log", text))));
    std::vector<std::string> lines;
    while (const auto line = reader.Next()) {
      lines.emplace_back(reader.too_long() ? "too long" : *line);
    }
    line_number_ = reader.line_number();
    return lines;
  }
  std::uint64_t line_number_ = 0;
};

TEST_F(LineReaderTest, TakesEitherEndAndALastLineWithout) {
  EXPECT_THAT(Lines("a\nb\r\n\nc"), ElementsAre("a", "b", "", "c"));
  EXPECT_EQ(line_number_, 4U);
  EXPECT_THAT(Lines(""), ElementsAre());
}

TEST_F(LineReaderTest, ReadsManyMoreLinesThanItsBufferHolds) {
  std::string text;
  for (int i = 0; i < 200'000; ++i) {
    text += "line " + std::to_string(i) + "\n";
  }
  const auto lines = Lines(text);
  ASSERT_EQ(lines.size(), 200'000U);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    ASSERT_EQ(lines[i], "line " + std::to_string(i));
  }
}

TEST_F(LineReaderTest, ALineThatIsTooLongIsOneLineHoweverLong) {
  const std::string longish(LineReader::kMaxLineBytes + 1, 'x');
  const std::string huge(3'000'000, 'y');
  EXPECT_THAT(Lines("a\n" + longish + "\nb\n" + huge + "\nc\n" + huge),
              ElementsAre("a", "too long", "b", "too long", "c", "too long"));
  EXPECT_EQ(line_number_, 6U);
}

TEST_F(LineReaderTest, ShowsTheHeadWithoutTakingIt) {
  LineReader reader(std::move(*ByteSource::Open(Write("log", "a\nb\nc"))));
  EXPECT_EQ(reader.Head(), "a\nb\nc");
  EXPECT_EQ(reader.Next(), "a");
}

}  // namespace
}  // namespace sluice::logs
