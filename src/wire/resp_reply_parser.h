#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "wire/read_buffer.h"

namespace sluice::wire {

// By their type byte on the wire.
enum class RespType : char {
  kSimple = '+',
  kError = '-',
  kInteger = ':',
  kBulk = '$',
  kArray = '*',
  // RESP3.
  kNull = '_',  // Also RESP2's "$-1" and "*-1".
  kTruth = '#',
  kDouble = ',',
  kBigNumber = '(',
  kBulkError = '!',
  kVerbatim = '=',
  kMap = '%',
  kSet = '~',
  kPush = '>',
};

// One value of a reply.
struct RespNode {
  RespType type = RespType::kNull;
  std::string_view text;     // Of text types; of doubles and big numbers the digits.
  std::int64_t integer = 0;  // kInteger; kTruth: 1 or 0.
  std::size_t size = 0;      // Of an aggregate: its number of values; a map has two for each pair.
};

struct RespReplyLimits {
  std::size_t depth = 16;                 // Of aggregates within aggregates.
  std::size_t values = 1024 * 1024;       // In one reply.
  std::size_t bytes = 512 * 1024 * 1024;  // Of one reply, framing included.
};

// Reads the replies of a Redis server from a stream of bytes, RESP2 and RESP3. A reply is a flat
// list: each aggregate is followed by its values. RESP3's attributes are read and dropped. Streamed
// strings and aggregates, which no server sends, are errors.
//
// No I/O. Parsing continues where the bytes ended. Nothing is allocated for announced sizes. One
// thread.
class RespReplyParser {
 public:
  explicit RespReplyParser(const RespReplyLimits& limits = {}) : limits_(limits) {}

  // Prepare() returns room for at least `size` bytes; Commit() says how many were filled. Both
  // invalidate reply().
  [[nodiscard]] std::span<char> Prepare(std::size_t size) { return buffer_.Prepare(size); }
  void Commit(std::size_t size) { buffer_.Commit(size); }
  // Copies: for tests.
  void Append(std::string_view bytes) { buffer_.Append(bytes); }

  // kReply: reply() has one. kError: the bytes are not a reply, error() says why, and nothing after
  // them can be read.
  enum class Event : std::uint8_t { kNeedMore, kReply, kError };
  [[nodiscard]] Event Next();

  // Valid until the next Next() or Prepare(). Never empty after kReply; the first node is the reply
  // itself. Check its type: a kPush is not an answer.
  [[nodiscard]] std::span<const RespNode> reply() const { return nodes_; }
  [[nodiscard]] std::string_view error() const { return error_; }

 private:
  struct Piece {
    std::size_t at = 0;
    std::size_t size = 0;
  };
  // An aggregate whose values are still being read.
  struct Open {
    std::size_t left = 0;
    bool dropped = false;   // An attribute: not a value of its aggregate.
    std::size_t first = 0;  // The size of nodes_ to return to when it is dropped.
  };
  enum class Step : std::uint8_t { kMore, kDone, kBad };

  void Forget();
  Step ReadValue(std::string_view data);
  Step ReadAggregate(char mark, std::int64_t size);
  Step ReadBulk(std::string_view data, RespType type, std::int64_t size);
  Step ReadScalar(char mark, Piece line, std::string_view text);
  Step Add(RespNode node, Piece text);
  Step Bad(std::string text);
  void CloseFinished();

  RespReplyLimits limits_;
  ReadBuffer buffer_;
  std::size_t taken_ = 0;
  std::size_t at_ = 0;       // How far the unfinished reply has been read.
  std::size_t scanned_ = 0;  // How far the search for the end of the line at at_ has come.
  bool complete_ = false;
  std::vector<Open> open_;
  std::vector<RespNode> nodes_;
  std::vector<Piece>
      pieces_;  // One for each of nodes_, because the buffer may move until the reply is complete.
  std::string error_;
};

}  // namespace sluice::wire
