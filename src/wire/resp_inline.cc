#include "wire/resp_inline.h"

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

// Appends what stands between the quotes that open at `at`, and moves behind the closing one.
// False if none closes.
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
  room.reserve(line.size());  // Unescaping never adds: the views stay good.
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

}  // namespace sluice::wire
