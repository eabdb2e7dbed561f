// Any bytes as what a Redis server answers, whole and cut in pieces: the same replies and the same
// error both ways; every reply is one whole value, no deeper and no larger than the limits say.

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "wire/resp_reply_parser.h"

namespace {

using sluice::wire::RespNode;
using sluice::wire::RespReplyLimits;
using sluice::wire::RespReplyParser;
using Event = RespReplyParser::Event;

constexpr RespReplyLimits kLimits{.depth = 4, .values = 64, .bytes = 512};

void Check(bool condition) {
  if (!condition) {
    std::abort();
  }
}

struct Value {
  char type = 0;
  std::string text;
  std::int64_t integer = 0;
  std::size_t size = 0;

  bool operator==(const Value&) const = default;
};
struct Read {
  std::vector<std::vector<Value>> replies;
  bool failed = false;

  bool operator==(const Read&) const = default;
};

// How many of `nodes` the first one and its values are.
std::size_t Extent(std::span<const RespNode> nodes, std::size_t depth) {
  Check(!nodes.empty() && depth <= kLimits.depth);
  std::size_t extent = 1;
  for (std::size_t i = 0; i < nodes.front().size; ++i) {
    extent += Extent(nodes.subspan(extent), depth + 1);
  }
  return extent;
}

Read ReadInPieces(std::string_view bytes, std::size_t piece) {
  RespReplyParser parser(kLimits);
  Read read;
  while (!bytes.empty() && !read.failed) {
    const std::size_t size = std::min(piece, bytes.size());
    parser.Append(bytes.substr(0, size));
    bytes.remove_prefix(size);
    Event event = parser.Next();
    for (; event == Event::kReply; event = parser.Next()) {
      Check(parser.reply().size() <= kLimits.values);
      Check(Extent(parser.reply(), 0) == parser.reply().size());
      auto& values = read.replies.emplace_back();
      for (const RespNode& node : parser.reply()) {
        values.push_back(
            {static_cast<char>(node.type), std::string(node.text), node.integer, node.size});
      }
    }
    read.failed = event == Event::kError;
    Check(read.failed == !parser.error().empty());
  }
  return read;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > kLimits.bytes) {
    return 0;  // Where the bound of bytes strikes depends on how they are cut.
  }
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const Read whole = ReadInPieces(bytes, size);
  Check(whole == ReadInPieces(bytes, 1));
  Check(whole == ReadInPieces(bytes, 7));
  return 0;
}
