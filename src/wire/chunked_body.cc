#include <algorithm>
#include <charconv>

#include "wire/http1_parser.h"

namespace sluice::wire {
namespace {

constexpr std::size_t kMaxLine = 4096;
constexpr std::size_t kKeptMemory = 64 * 1024;

// Framing may take 16 KiB, plus eight bytes for each byte of data. So even chunks of one byte are
// accepted.
bool TooMuchFraming(std::size_t overhead, std::size_t data) {
  return overhead > 16 * 1024 + 8 * data;
}

// Text that a field or an extension may contain: no control characters except the tab.
bool IsClean(std::string_view text) {
  return std::ranges::all_of(text, [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (byte >= 0x20 && byte != 0x7f) || c == '\t';
  });
}

// "1f;name=value" to 31.
bool ReadSize(std::string_view line, std::size_t& size) {
  const std::string_view digits = line.substr(0, line.find(';'));
  if (digits.empty() || digits.size() > 15) {
    return false;
  }
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), size, 16);
  return error == std::errc() && end == digits.data() + digits.size() && IsClean(line);
}

bool IsTrailer(std::string_view line) {
  return line.front() != ' ' && line.front() != '\t' && line.find(':') != std::string_view::npos &&
         IsClean(line);
}

}  // namespace

void ChunkedBody::Start(std::size_t max_body_bytes) {
  if (body_.capacity() > kKeptMemory) {
    body_ = {};
  }
  body_.clear();
  max_body_bytes_ = max_body_bytes;
  left_ = 0;
  overhead_ = 0;
  state_ = State::kSize;
}

ChunkedBody::Outcome ChunkedBody::Take(std::string_view input, std::size_t& used) {
  used = 0;
  for (;;) {
    const std::string_view rest = input.substr(used);
    if (state_ == State::kData) {
      const std::size_t size = std::min(left_, rest.size());
      body_.append(rest.substr(0, size));
      used += size;
      left_ -= size;
      if (left_ != 0) {
        return Outcome::kNeedMore;
      }
      state_ = State::kDataEnd;
      continue;
    }
    // All else is lines.
    const std::size_t line_feed = rest.substr(0, kMaxLine).find('\n');
    if (line_feed == std::string_view::npos) {
      return rest.size() >= kMaxLine ? Outcome::kMalformed : Outcome::kNeedMore;
    }
    if (line_feed == 0 || rest[line_feed - 1] != '\r') {
      return Outcome::kMalformed;
    }
    const std::string_view line = rest.substr(0, line_feed - 1);
    used += line_feed + 1;
    overhead_ += line_feed + 1;
    if (TooMuchFraming(overhead_, body_.size())) {
      return Outcome::kMalformed;
    }
    switch (state_) {
      case State::kDataEnd:
        if (!line.empty()) {
          return Outcome::kMalformed;
        }
        state_ = State::kSize;
        break;
      case State::kSize:
        if (!ReadSize(line, left_)) {
          return Outcome::kMalformed;
        }
        if (left_ > max_body_bytes_ - body_.size()) {
          return Outcome::kTooLarge;
        }
        state_ = left_ == 0 ? State::kTrailer : State::kData;
        break;
      case State::kTrailer:
        if (line.empty()) {
          return Outcome::kDone;
        }
        if (!IsTrailer(line)) {
          return Outcome::kMalformed;
        }
        break;
      case State::kData:
        break;
    }
  }
}

}  // namespace sluice::wire
