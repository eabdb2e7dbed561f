#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace sluice::wire {

// Puts together a body that comes in chunks (RFC 9112, section 7.1). Strict: CRLF only, a
// size of one to 15 hex digits, extensions skipped but bounded, trailers dropped but bounded.
class ChunkedBody {
 public:
  enum class Outcome : std::uint8_t { kNeedMore, kDone, kMalformed, kTooLarge };

  // Forgets the last body, keeps its memory (up to 64 KiB).
  void Start(std::size_t max_body_bytes);

  // Takes what it can from the front of `input` and says in `used` how much. kNeedMore wants
  // the rest of `input` again, with more behind it: less than one line, 4 KiB at most.
  [[nodiscard]] Outcome Take(std::string_view input, std::size_t& used);

  [[nodiscard]] std::string_view body() const { return body_; }

 private:
  enum class State : std::uint8_t { kSize, kData, kDataEnd, kTrailer };

  std::string body_;
  std::size_t max_body_bytes_ = 0;
  std::size_t left_ = 0;      // Of this chunk's data.
  std::size_t overhead_ = 0;  // Bytes that were no data.
  State state_ = State::kSize;
};

}  // namespace sluice::wire
