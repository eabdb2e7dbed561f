#include <array>
#include <string>

#include <gmock/gmock.h>

#include "logs/line_reader.h"
#include "unit/logs/log_files.h"

namespace sluice::logs {
namespace {

using ::testing::HasSubstr;

class ByteSourceTest : public LogFilesTest {
 protected:
  // All that can be read; error_ says what ended it, if anything.
  std::string ReadAll(const std::string& path) {
    error_.clear();
    auto source = ByteSource::Open(path);
    if (!source) {
      error_ = source.error().Text();
      return "";
    }
    std::string text;
    std::array<char, 7> room{};
    for (;;) {
      const auto got = (*source)->Read(room);
      if (!got) {
        error_ = got.error().Text();
        EXPECT_EQ((*source)->Read(room).value_or(1), 0U);  // And it is over.
        return text;
      }
      if (*got == 0) {
        return text;
      }
      text.append(room.data(), *got);
    }
  }
  std::string error_;
};

TEST_F(ByteSourceTest, ReadsPlainFilesHoweverShort) {
  EXPECT_EQ(ReadAll(Write("empty", "")), "");
  EXPECT_EQ(error_, "");
  EXPECT_EQ(ReadAll(Write("short", "ab")), "ab");
  EXPECT_EQ(ReadAll(Write("long", "0123456789\nabcdefghij\n")), "0123456789\nabcdefghij\n");
}

TEST_F(ByteSourceTest, ReadsGzipOfSeveralMembersWhateverTheName) {
  AppendGzip("log", "first\n");
  AppendGzip("log", "second\n");
  std::string path = AppendGzip("log", "");
  EXPECT_EQ(ReadAll(path), "first\nsecond\n");
  EXPECT_EQ(error_, "");
}

TEST_F(ByteSourceTest, TakesPaddingBehindGzipForNothing) {
  const std::string path = AppendGzip("log.gz", "text\n");
  std::ofstream(path, std::ios::binary | std::ios::app) << std::string(600, '\0');
  EXPECT_EQ(ReadAll(path), "text\n");
  EXPECT_EQ(error_, "");
}

TEST_F(ByteSourceTest, GivesWhatIsThereOfACutOffGzip) {
  std::string text;
  for (int i = 0; i < 20'000; ++i) {
    text += std::to_string(i * 7919 % 100'003) + "\n";
  }
  const std::string path = AppendGzip("log.gz", text);
  CutOff("log.gz", 2'000);
  const std::string read = ReadAll(path);
  EXPECT_GT(read.size(), text.size() / 2);
  EXPECT_EQ(read, text.substr(0, read.size()));
  EXPECT_THAT(error_, HasSubstr("truncated"));
}

TEST_F(ByteSourceTest, SaysThatGzipIsDamaged) {
  const std::string path = AppendGzip("log.gz", "text\n");
  std::ofstream(path, std::ios::binary | std::ios::app) << "garbage behind it";
  EXPECT_EQ(ReadAll(path), "text\n");
  EXPECT_THAT(error_, HasSubstr("damaged"));
}

TEST_F(ByteSourceTest, NamesAnotherPackingAndTheRemedy) {
  ReadAll(Write("log.zst", "\x28\xB5\x2F\xFD....."));
  EXPECT_THAT(error_, HasSubstr("zstdcat"));
  ReadAll(Path("not there"));
  EXPECT_THAT(error_, HasSubstr("No such file"));
  ReadAll(Path("."));
  EXPECT_THAT(error_, HasSubstr("directory"));
}

}  // namespace
}  // namespace sluice::logs
