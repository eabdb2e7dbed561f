#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "wire/read_buffer.h"

namespace sluice::wire {

enum class InlineFault : std::uint8_t { kNone, kQuotes, kTooMany };

// Splits an inline command into its words, separated by white space. "..." may contain the escapes
// \n \r \t \b \a \\ \" and \xHH, and '...' may contain \'. A quote must be closed, and white space
// must follow it.
// `args` become views of `room`, which is overwritten; after a fault they are unspecified. At most
// `most` words.
[[nodiscard]] InlineFault SplitInline(std::string_view line, std::size_t most, std::string& room,
                                      std::vector<std::string_view>& args);

// Limits of one command. They protect the daemon's memory from hostile clients.
struct RespLimits {
  std::size_t arguments = 1024;           // With the command's name.
  std::size_t command_bytes = 64 * 1024;  // From its first byte to its last.
};

// Reads the commands of a Redis client from a stream of bytes: arrays of bulk strings
// (*2\r\n$4\r\nPING\r\n$2\r\nhi\r\n), and lines as typed into telnet (PING hi). A command is a flat
// array of strings: nested values are refused, so no depth has to be bounded.
//
// No I/O. Each byte is examined once or twice, however small the pieces are. Memory is limited, and
// nothing is allocated for announced sizes. One thread.
//
// Source: the RESP specification, https://redis.io/docs/reference/protocol-spec/
class RespCommandParser {
 public:
  explicit RespCommandParser(const RespLimits& limits) : limits_(limits) {}

  // Prepare() returns room for at least `size` bytes; Commit() says how many were filled. Both
  // invalidate args().
  [[nodiscard]] std::span<char> Prepare(std::size_t size) { return buffer_.Prepare(size); }
  void Commit(std::size_t size) { buffer_.Commit(size); }
  // Copies: for tests and clients.
  void Append(std::string_view bytes) { buffer_.Append(bytes); }

  // kCommand: args() has a command of at least one argument. kError: the bytes are not a command,
  // error() says why, and nothing after them can be read.
  enum class Event : std::uint8_t { kNeedMore, kCommand, kError };
  [[nodiscard]] Event Next();

  // The command's name and arguments, until the next Next() or Prepare(). Any bytes.
  [[nodiscard]] std::span<const std::string_view> args() const { return args_; }
  [[nodiscard]] std::string_view error() const { return error_; }

  // Whether a command has begun to arrive but is incomplete.
  [[nodiscard]] bool inside_command() const { return !buffer_.Data().empty(); }

  // For the commands from the next one on.
  void SetLimits(const RespLimits& limits) { limits_ = limits; }

  // Frees memory that only a large command needed, once everything has been read.
  void ShrinkIfIdle(std::size_t keep) { buffer_.ShrinkIfIdle(keep); }

 private:
  struct Piece {
    std::uint32_t at = 0;  // From the command's first byte.
    std::uint32_t size = 0;
  };
  enum class Line : std::uint8_t { kMore, kWhole, kBad };

  void Forget();
  Event ReadArray(std::string_view data);
  Event ReadInline(std::string_view data);
  // Reads "<mark><number>\r\n" at at_ and moves past it. kMore: incomplete.
  [[nodiscard]] Line ReadNumber(std::string_view data, std::int64_t& number);
  Event Fail(std::string text);
  // More bytes are needed: an error if the command has reached its limit.
  Event Wait(std::string_view data);

  RespLimits limits_;
  ReadBuffer buffer_;
  std::size_t taken_ = 0;   // Bytes of the command that args() views.
  std::size_t at_ = 0;      // How far the unfinished command was read.
  std::int64_t left_ = -1;  // Arguments still missing; -1: the array's header has not been read.
  std::int64_t bulk_ = -1;  // Size of the argument at at_; -1: its header has not been read.
  std::vector<Piece> pieces_;
  std::vector<std::string_view> args_;
  std::string line_;  // Arguments of an inline command, without quotes.
  std::string error_;
};

}  // namespace sluice::wire
