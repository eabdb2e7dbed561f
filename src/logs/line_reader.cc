#include "logs/line_reader.h"

#include <cstring>
#include <utility>

namespace sluice::logs {

namespace {

constexpr std::size_t kBufferBytes = 8 * LineReader::kMaxLineBytes;

// The UTF-8 byte order mark. It occurs at the beginning of a log, or of each part of a joined one.
std::string_view WithoutMark(std::string_view line) {
  return line.starts_with("\xEF\xBB\xBF") ? line.substr(3) : line;
}

}  // namespace

LineReader::LineReader(std::unique_ptr<ByteSource> source)
    : source_(std::move(source)), buffer_(kBufferBytes) {}

bool LineReader::Fill() {
  if (over_) {
    return false;
  }
  if (begin_ != 0) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  const auto got = source_->Read({buffer_.data() + end_, buffer_.size() - end_});
  if (!got) {
    error_ = got.error();
  }
  over_ = !got || *got == 0;
  end_ += over_ ? 0 : *got;
  return !over_;
}

std::string_view LineReader::Head() {
  while (end_ < kMaxLineBytes && Fill()) {
  }
  const std::string_view all = WithoutMark({buffer_.data(), end_});
  const std::size_t last = all.rfind('\n');
  return over_ || last == all.npos ? all : all.substr(0, last);
}

std::optional<std::string_view> LineReader::Next() {
  std::size_t searched = 0;
  for (;;) {
    const char* line = buffer_.data() + begin_;
    const auto* newline =
        static_cast<const char*>(std::memchr(line + searched, '\n', end_ - begin_ - searched));
    const bool full = newline == nullptr && end_ - begin_ == buffer_.size();
    if (newline == nullptr && !full) {
      searched = end_ - begin_;
      if (Fill()) {
        continue;
      }
      if (begin_ == end_) {
        return std::nullopt;
      }
      line = buffer_.data() + begin_;
    }
    const char* stop = newline == nullptr ? buffer_.data() + end_ : newline;
    auto size = static_cast<std::size_t>(stop - line);
    begin_ = static_cast<std::size_t>(stop - buffer_.data()) + (newline == nullptr ? 0 : 1);
    searched = 0;
    const bool rest = within_line_;
    within_line_ = full;
    if (rest) {
      continue;
    }
    ++line_number_;
    too_long_ = size > kMaxLineBytes;
    size -= size != 0 && line[size - 1] == '\r' ? 1 : 0;
    return WithoutMark({line, too_long_ ? kMaxLineBytes : size});
  }
}

}  // namespace sluice::logs
