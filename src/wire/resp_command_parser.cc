#include "wire/resp_command_parser.h"

#include <utility>

#include "wire/ascii.h"

namespace sluice::wire {

namespace {

bool IsSpace(char c) {
  return c == ' ' || (c >= '\t' && c <= '\r');
}

char CharacterEscapedBy(char c) {
  switch (c) {
    case 'n':
      return '\n';
    case 'r':
      return '\r';
    case 't':
      return '\t';
    case 'b':
      return '\b';
    case 'a':
      return '\a';
    default:
      return c;
  }
}

// Appends the text between the quotes that open at `at`, and moves past the closing quote. False if
// it is missing.
bool ReadQuoted(std::string_view line, std::size_t& at, std::string& room) {
  const char quote = line[at++];
  while (at < line.size()) {
    const char c = line[at];
    if (c == quote) {
      ++at;
      return at == line.size() || IsSpace(line[at]);
    }
    const char next = at + 1 < line.size() ? line[at + 1] : '\0';
    if (c != '\\' || at + 1 == line.size()) {
      room += c;
      ++at;
    } else if (quote == '\'') {
      room += next == '\'' ? next : c;
      at += next == '\'' ? 2 : 1;
    } else if (next == 'x' && at + 3 < line.size() && HexValue(line[at + 2]) >= 0 &&
               HexValue(line[at + 3]) >= 0) {
      room += static_cast<char>((HexValue(line[at + 2]) << 4) | HexValue(line[at + 3]));
      at += 4;
    } else {
      room += CharacterEscapedBy(next);
      at += 2;
    }
  }
  return false;
}

}  // namespace

InlineFault SplitInline(std::string_view line, std::size_t most, std::string& room,
                        std::vector<std::string_view>& args) {
  args.clear();
  room.clear();
  room.reserve(line.size());  // Unescaped text is never longer, so the views stay valid.
  for (std::size_t at = 0;;) {
    while (at < line.size() && IsSpace(line[at])) {
      ++at;
    }
    if (at == line.size()) {
      return InlineFault::kNone;
    }
    if (args.size() == most) {
      return InlineFault::kTooMany;
    }
    const std::size_t begin = room.size();
    while (at < line.size() && !IsSpace(line[at])) {
      if (line[at] == '"' || line[at] == '\'') {
        if (!ReadQuoted(line, at, room)) {
          return InlineFault::kQuotes;
        }
      } else {
        room += line[at++];
      }
    }
    args.emplace_back(room.data() + begin, room.size() - begin);
  }
}

namespace {

// More digits than any allowed size has, and fewer than overflow.
constexpr std::size_t kMostDigits = 18;

std::string Shown(char c) {
  return c > ' ' && c < 0x7f ? std::string(1, c) : std::string("a control character");
}

}  // namespace

void RespCommandParser::Forget() {
  buffer_.Consume(std::exchange(taken_, 0));
  at_ = 0;
  left_ = -1;
  bulk_ = -1;
  pieces_.clear();
  args_.clear();
}

RespCommandParser::Event RespCommandParser::Next() {
  if (!error_.empty()) {
    return Event::kError;
  }
  if (taken_ != 0) {
    Forget();
  }
  for (;;) {
    const std::string_view data = buffer_.Data();
    if (data.empty()) {
      return Event::kNeedMore;
    }
    const Event event = data[0] == '*' ? ReadArray(data) : ReadInline(data);
    if (event != Event::kCommand || !args_.empty()) {
      return event;
    }
    Forget();  // An empty array or line: no command, and no answer to it.
  }
}

RespCommandParser::Event RespCommandParser::Fail(std::string text) {
  error_ = "Protocol error: " + std::move(text);
  args_.clear();
  return Event::kError;
}

RespCommandParser::Event RespCommandParser::Wait(std::string_view data) {
  if (data.size() >= limits_.command_bytes) {
    return Fail("a command may have " + std::to_string(limits_.command_bytes) + " bytes");
  }
  return Event::kNeedMore;
}

// Not std::from_chars: a CL.THROTTLE has five of these numbers, all of them small.
RespCommandParser::Line RespCommandParser::ReadNumber(std::string_view data, std::int64_t& number) {
  std::size_t at = at_ + 1;
  const bool negative = at < data.size() && data[at] == '-';
  at += negative ? 1 : 0;
  const std::size_t begin = at;
  std::int64_t read = 0;
  while (at < data.size() && IsDigit(data[at])) {
    if (at - begin == kMostDigits) {
      return Line::kBad;
    }
    read = read * 10 + (data[at] - '0');
    ++at;
  }
  if (at == data.size()) {
    return Line::kMore;
  }
  if (at == begin || data[at] != '\r') {
    return Line::kBad;
  }
  if (at + 1 == data.size()) {
    return Line::kMore;
  }
  if (data[at + 1] != '\n') {
    return Line::kBad;
  }
  number = negative ? -read : read;
  at_ = at + 2;
  return Line::kWhole;
}

RespCommandParser::Event RespCommandParser::ReadArray(std::string_view data) {
  if (left_ < 0) {
    std::int64_t count = 0;
    const Line line = ReadNumber(data, count);
    if (line == Line::kMore) {
      return Event::kNeedMore;
    }
    if (line == Line::kBad || count > static_cast<std::int64_t>(limits_.arguments)) {
      return Fail("invalid multibulk length: a command may have " +
                  std::to_string(limits_.arguments) + " arguments");
    }
    left_ = count < 0 ? 0 : count;
  }
  while (left_ > 0) {
    if (bulk_ < 0) {
      if (at_ == data.size()) {
        return Wait(data);
      }
      if (data[at_] != '$') {
        return Fail("expected '$', got " + Shown(data[at_]));
      }
      std::int64_t size = 0;
      const Line line = ReadNumber(data, size);
      if (line == Line::kMore) {
        return Wait(data);
      }
      if (line == Line::kBad || size < 0 ||
          size > static_cast<std::int64_t>(limits_.command_bytes)) {
        return Fail("invalid bulk length");
      }
      bulk_ = size;
    }
    const auto size = static_cast<std::size_t>(bulk_);
    if (at_ + size + 2 > limits_.command_bytes) {
      return Fail("a command may have " + std::to_string(limits_.command_bytes) + " bytes");
    }
    if (data.size() < at_ + size + 2) {
      return Event::kNeedMore;
    }
    if (data[at_ + size] != '\r' || data[at_ + size + 1] != '\n') {
      return Fail("a bulk string is longer than its stated length");
    }
    pieces_.push_back({static_cast<std::uint32_t>(at_), static_cast<std::uint32_t>(size)});
    at_ += size + 2;
    bulk_ = -1;
    --left_;
  }
  for (const Piece& piece : pieces_) {
    args_.push_back(data.substr(piece.at, piece.size));
  }
  taken_ = at_;
  return Event::kCommand;
}

RespCommandParser::Event RespCommandParser::ReadInline(std::string_view data) {
  const std::size_t end = data.find('\n', at_);
  if (end == std::string_view::npos) {
    at_ = data.size();
    return Wait(data);
  }
  if (end >= limits_.command_bytes) {
    return Fail("a command may have " + std::to_string(limits_.command_bytes) + " bytes");
  }
  taken_ = end + 1;
  switch (SplitInline(data.substr(0, end), limits_.arguments, line_, args_)) {
    case InlineFault::kNone:
      break;
    case InlineFault::kQuotes:
      return Fail("unbalanced quotes in request");
    case InlineFault::kTooMany:
      return Fail("a command may have " + std::to_string(limits_.arguments) + " arguments");
  }
  return Event::kCommand;
}

}  // namespace sluice::wire
