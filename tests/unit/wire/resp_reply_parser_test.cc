#include "wire/resp_reply_parser.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "wire/resp_writer.h"

namespace sluice::wire {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

using ReplyEvent = RespReplyParser::Event;

// A reply as text: its values one behind the other.
std::string TextOf(std::span<const RespNode> reply) {
  std::string text;
  for (const RespNode& node : reply) {
    text += text.empty() ? "" : " ";
    text += static_cast<char>(node.type);
    if (node.type == RespType::kInteger || node.type == RespType::kTruth) {
      text += std::to_string(node.integer);
    } else if (node.size != 0) {
      text += std::to_string(node.size);
    }
    text += node.text;
  }
  return text;
}

std::vector<std::string> ReadAll(const std::vector<std::string>& pieces, std::string* error,
                                 const RespReplyLimits& limits = {}) {
  RespReplyParser parser(limits);
  std::vector<std::string> replies;
  error->clear();
  for (const std::string& piece : pieces) {
    parser.Append(piece);
    ReplyEvent event = parser.Next();
    for (; event == ReplyEvent::kReply; event = parser.Next()) {
      replies.push_back(TextOf(parser.reply()));
    }
    if (event == ReplyEvent::kError) {
      *error = parser.error();
      break;
    }
  }
  return replies;
}

std::vector<std::string> Bytes(const std::string& text) {
  std::vector<std::string> pieces;
  for (const char c : text) {
    pieces.emplace_back(1, c);
  }
  return pieces;
}

void ExpectReplies(const std::string& bytes, const testing::Matcher<std::vector<std::string>>& is) {
  std::string error;
  EXPECT_THAT(ReadAll({bytes}, &error), is) << bytes;
  EXPECT_THAT(error, IsEmpty()) << bytes;
  EXPECT_THAT(ReadAll(Bytes(bytes), &error), is) << bytes;
  EXPECT_THAT(error, IsEmpty()) << bytes;
}

TEST(RespReplyParserTest, ReadsEveryTypeHoweverItIsCut) {
  ExpectReplies("+OK\r\n-ERR no\r\n:-7\r\n$3\r\na\nb\r\n$0\r\n\r\n$-1\r\n*-1\r\n*0\r\n",
                ElementsAre("+OK", "-ERR no", ":-7", "$a\nb", "$", "_", "_", "*"));
  ExpectReplies("_\r\n#t\r\n#f\r\n,1.5e3\r\n(123456789012345678901234567890\r\n!3\r\nE x\r\n",
                ElementsAre("_", "#1", "#0", ",1.5e3", "(123456789012345678901234567890", "!E x"));
  ExpectReplies("=7\r\ntxt:abc\r\n~1\r\n+a\r\n>2\r\n+message\r\n+b\r\n",
                ElementsAre("=txt:abc", "~1 +a", ">2 +message +b"));
}

TEST(RespReplyParserTest, ReadsAggregatesInAggregates) {
  ExpectReplies("*3\r\n:1\r\n*2\r\n*0\r\n%1\r\n+k\r\n*1\r\n:2\r\n:3\r\n+next\r\n",
                ElementsAre("*3 :1 *2 * %2 +k *1 :2 :3", "+next"));
}

TEST(RespReplyParserTest, DropsAttributes) {
  ExpectReplies(
      "|1\r\n+ttl\r\n*1\r\n:3\r\n:5\r\n*2\r\n|0\r\n+a\r\n|1\r\n+k\r\n|1\r\n+x\r\n+y\r\n+v\r\n+"
      "b\r\n",
      ElementsAre(":5", "*2 +a +b"));
}

TEST(RespReplyParserTest, RefusesWhatIsNoReply) {
  for (const char* bytes : {"OK\r\n", "+OK\n", ":x\r\n", ":\r\n", "$x\r\n", "$-2\r\n", "*-2\r\n",
                            "%-1\r\n", "_x\r\n", "#x\r\n", "(1x\r\n", "(\r\n", ",\r\n",
                            "$1\r\nab\r\n", "$?\r\n", "*?\r\n", "\r\n", "*1\r\n*1\r\n^\r\n"}) {
    std::string error;
    EXPECT_THAT(ReadAll({bytes}, &error), IsEmpty()) << bytes;
    EXPECT_FALSE(error.empty()) << bytes;
    EXPECT_THAT(ReadAll(Bytes(bytes), &error), IsEmpty()) << bytes;
    EXPECT_FALSE(error.empty()) << bytes;
  }
}

TEST(RespReplyParserTest, BoundsDepthValuesAndBytes) {
  const RespReplyLimits limits{.depth = 2, .values = 4, .bytes = 64};
  std::string error;
  for (const char* bytes : {"*1\r\n*1\r\n*1\r\n", "*5\r\n", "*2\r\n*2\r\n+a\r\n+b\r\n+c\r\n",
                            "$65\r\n", "*9223372036854775807\r\n", "|1\r\n|1\r\n|1\r\n"}) {
    EXPECT_THAT(ReadAll({bytes}, &error, limits), IsEmpty()) << bytes;
    EXPECT_FALSE(error.empty()) << bytes;
  }
  EXPECT_THAT(ReadAll({"+" + std::string(64, 'x')}, &error, limits), IsEmpty());
  EXPECT_FALSE(error.empty());
}

TEST(RespWriterTest, WritesWhatEachVersionKnows) {
  const auto written = [](RespVersion version) {
    std::string out;
    RespWriter writer(out, version);
    writer.Map(2);
    writer.Bulk("yes");
    writer.Truth(true);
    writer.Bulk("none");
    writer.Null();
    return out;
  };
  EXPECT_EQ(written(RespVersion::k2), "*4\r\n$3\r\nyes\r\n:1\r\n$4\r\nnone\r\n$-1\r\n");
  EXPECT_EQ(written(RespVersion::k3), "%2\r\n$3\r\nyes\r\n#t\r\n$4\r\nnone\r\n_\r\n");
}

TEST(RespWriterTest, KeepsAnErrorOnOneLine) {
  std::string out;
  RespWriter(out, RespVersion::k2).Error("ERR", "unknown 'a\r\n+OK\r\n\x7f'");
  EXPECT_EQ(out, "-ERR unknown 'a\\x0d\\x0a+OK\\x0d\\x0a\\x7f'\r\n");
}

}  // namespace
}  // namespace sluice::wire
