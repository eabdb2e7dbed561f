#include "wire/resp_command_parser.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "wire/resp_writer.h"

namespace sluice::wire {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

using CommandEvent = RespCommandParser::Event;
using Command = std::vector<std::string>;

struct Read {
  std::vector<Command> commands;
  std::string error;
};

// Everything in `pieces`, fed one after the other.
Read ReadAll(const std::vector<std::string>& pieces, const RespLimits& limits = {}) {
  RespCommandParser parser(limits);
  Read read;
  for (const std::string& piece : pieces) {
    parser.Append(piece);
    CommandEvent event = parser.Next();
    for (; event == CommandEvent::kCommand; event = parser.Next()) {
      read.commands.emplace_back(parser.args().begin(), parser.args().end());
    }
    if (event == CommandEvent::kError) {
      read.error = parser.error();
      break;
    }
  }
  return read;
}

Read ReadBytewise(const std::string& bytes, const RespLimits& limits = {}) {
  std::vector<std::string> pieces;
  for (const char c : bytes) {
    pieces.emplace_back(1, c);
  }
  return ReadAll(pieces, limits);
}

TEST(RespCommandParserTest, ReadsPipelinedArraysHoweverTheyAreCut) {
  const std::string bytes = std::string("*2\r\n$4\r\nECHO\r\n$7\r\na\r\nb\0c \r\n", 27) +
                            "*1\r\n$4\r\nPING\r\n*2\r\n$3\r\nGET\r\n$0\r\n\r\n";
  const std::string binary("a\r\nb\0c ", 7);
  for (const Read& read : {ReadAll({bytes}), ReadBytewise(bytes)}) {
    EXPECT_THAT(read.error, IsEmpty());
    EXPECT_THAT(read.commands,
                ElementsAre(Command{"ECHO", binary}, Command{"PING"}, Command{"GET", ""}));
  }
}

TEST(RespCommandParserTest, ReadsLinesAsTyped) {
  const std::string lines =
      "PING\r\nECHO  hi\n\r\n   \nSET \"a b\\x41\\n\\\"\" 'it\\'s \\n' \"\"\r\nx\"y\"\n";
  for (const Read& read : {ReadAll({lines}), ReadBytewise(lines)}) {
    EXPECT_THAT(read.error, IsEmpty());
    EXPECT_THAT(read.commands,
                ElementsAre(Command{"PING"}, Command{"ECHO", "hi"},
                            Command{"SET", "a bA\n\"", "it's \\n", ""}, Command{"xy"}));
  }
}

TEST(RespCommandParserTest, PassesEmptyArraysOver) {
  EXPECT_THAT(ReadAll({"*0\r\n*-1\r\n*1\r\n$4\r\nPING\r\n"}).commands,
              ElementsAre(Command{"PING"}));
}

TEST(RespCommandParserTest, RefusesWhatIsNoCommand) {
  for (const char* bytes :
       {"*x\r\n", "*1 \r\n", "*\r\n", "*1\n", "*99999999999999999999\r\n",
        "*1111111111111111111111111", "*1\r\n:1\r\n", "*1\r\n*1\r\n$1\r\na\r\n", "*1\r\n$-1\r\n",
        "*1\r\n$x\r\n", "*1\r\n$1\r\nab\r\n", "*1\r\n$2\r\na\r\n\r\n", "say \"hi\r\n",
        "say \"a\"b\r\n", "say 'a\r\n"}) {
    for (const Read& read : {ReadAll({bytes}), ReadBytewise(bytes)}) {
      EXPECT_THAT(read.error, HasSubstr("Protocol error")) << bytes;
      EXPECT_THAT(read.commands, IsEmpty()) << bytes;
    }
  }
}

TEST(RespCommandParserTest, StaysInError) {
  RespCommandParser parser({});
  parser.Append("*1\r\n:1\r\n");
  EXPECT_EQ(parser.Next(), CommandEvent::kError);
  parser.Append("*1\r\n$4\r\nPING\r\n");
  EXPECT_EQ(parser.Next(), CommandEvent::kError);
}

TEST(RespCommandParserTest, BoundsWhatACommandMayBe) {
  const RespLimits limits{.arguments = 3, .command_bytes = 100};
  EXPECT_THAT(ReadAll({"*3\r\n$1\r\na\r\n$1\r\nb\r\n$1\r\nc\r\n"}, limits).error, IsEmpty());
  EXPECT_THAT(ReadAll({"*4\r\n"}, limits).error, HasSubstr("3 arguments"));
  EXPECT_THAT(ReadAll({"*1000000000\r\n"}, limits).error, HasSubstr("3 arguments"));
  EXPECT_THAT(ReadAll({"a b c d\r\n"}, limits).error, HasSubstr("3 arguments"));
  EXPECT_THAT(ReadAll({"*1\r\n$9223372036854775807\r\n"}, limits).error, HasSubstr("bulk length"));
  EXPECT_THAT(ReadAll({"*1\r\n$98\r\n"}, limits).error, HasSubstr("100 bytes"));
  // Two arguments that fit alone and not together.
  const std::string half = "$45\r\n" + std::string(45, 'x') + "\r\n";
  EXPECT_THAT(ReadAll({"*1\r\n" + half}, limits).error, IsEmpty());
  EXPECT_THAT(ReadAll({"*2\r\n" + half + half}, limits).error, HasSubstr("100 bytes"));
  // A line that does not end.
  EXPECT_THAT(ReadAll({std::string(99, 'x')}, limits).error, IsEmpty());
  EXPECT_THAT(ReadAll({std::string(100, 'x')}, limits).error, HasSubstr("100 bytes"));
  EXPECT_THAT(ReadAll({std::string(120, 'x') + "\r\n"}, limits).error, HasSubstr("100 bytes"));
  EXPECT_THAT(ReadBytewise(std::string(120, 'x'), limits).error, HasSubstr("100 bytes"));
}

TEST(RespCommandParserTest, TellsWhetherACommandIsCutOff) {
  RespCommandParser parser({});
  EXPECT_EQ(parser.Next(), CommandEvent::kNeedMore);
  EXPECT_FALSE(parser.inside_command());
  parser.Append("*1\r\n$4\r\nPI");
  EXPECT_EQ(parser.Next(), CommandEvent::kNeedMore);
  EXPECT_TRUE(parser.inside_command());
  parser.Append("NG\r\n");
  EXPECT_EQ(parser.Next(), CommandEvent::kCommand);
  EXPECT_EQ(parser.Next(), CommandEvent::kNeedMore);
  EXPECT_FALSE(parser.inside_command());
}

TEST(RespCommandParserTest, ReadsWhatClientsWrite) {
  const std::vector<std::string_view> command{"SET", "", "a\r\n"};
  std::string bytes;
  AppendRespCommand(command, bytes);
  EXPECT_THAT(ReadAll({bytes}).commands, ElementsAre(Command{"SET", "", "a\r\n"}));
}

}  // namespace
}  // namespace sluice::wire
