// Any bytes as what a Redis client sends, whole and cut in pieces: the same commands and the same
// error both ways, nothing above the limits; and what is read, written again, reads as the same.

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "wire/resp_command_parser.h"
#include "wire/resp_writer.h"

namespace {

using sluice::wire::RespCommandParser;
using sluice::wire::RespLimits;
using Event = RespCommandParser::Event;

constexpr RespLimits kLimits{.arguments = 8, .command_bytes = 256};

void Check(bool condition) {
  if (!condition) {
    std::abort();
  }
}

struct Read {
  std::vector<std::vector<std::string>> commands;
  bool failed = false;

  bool operator==(const Read&) const = default;
};

Read ReadInPieces(std::string_view bytes, std::size_t piece) {
  RespCommandParser parser(kLimits);
  Read read;
  while (!bytes.empty() && !read.failed) {
    const std::size_t size = std::min(piece, bytes.size());
    parser.Append(bytes.substr(0, size));
    bytes.remove_prefix(size);
    Event event = parser.Next();
    for (; event == Event::kCommand; event = parser.Next()) {
      Check(!parser.args().empty() && parser.args().size() <= kLimits.arguments);
      std::size_t total = 0;
      for (const std::string_view arg : parser.args()) {
        total += arg.size();
      }
      Check(total <= kLimits.command_bytes);
      read.commands.emplace_back(parser.args().begin(), parser.args().end());
    }
    read.failed = event == Event::kError;
    Check(read.failed == !parser.error().empty());
  }
  return read;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const Read whole = ReadInPieces(bytes, size);
  Check(whole == ReadInPieces(bytes, 1));
  Check(whole == ReadInPieces(bytes, 7));

  for (const auto& command : whole.commands) {
    const std::vector<std::string_view> args(command.begin(), command.end());
    std::string written;
    sluice::wire::AppendRespCommand(args, written);
    RespCommandParser again({.arguments = kLimits.arguments, .command_bytes = 4096});
    again.Append(written);
    Check(again.Next() == Event::kCommand);
    Check(std::ranges::equal(again.args(), args));
    Check(again.Next() == Event::kNeedMore && !again.inside_command());
  }
  return 0;
}
