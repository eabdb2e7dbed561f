#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "yaml/scalar.h"

namespace sluice::yaml {

namespace {

void AppendUtf8(std::uint32_t point, std::string& text) {
  const auto put = [&](std::uint32_t byte) { text += static_cast<char>(byte); };
  if (point < 0x80) {
    put(point);
  } else if (point < 0x800) {
    put(0xc0U | (point >> 6U));
    put(0x80U | (point & 0x3fU));
  } else if (point < 0x10000) {
    put(0xe0U | (point >> 12U));
    put(0x80U | ((point >> 6U) & 0x3fU));
    put(0x80U | (point & 0x3fU));
  } else {
    put(0xf0U | (point >> 18U));
    put(0x80U | ((point >> 12U) & 0x3fU));
    put(0x80U | ((point >> 6U) & 0x3fU));
    put(0x80U | (point & 0x3fU));
  }
}

// `count` hexadecimal digits.
std::optional<std::uint32_t> ReadHex(Cursor& at, int count) {
  std::uint32_t value = 0;
  for (int i = 0; i < count; ++i) {
    const char c = at.Peek();
    const int digit = c >= '0' && c <= '9'   ? c - '0'
                      : c >= 'a' && c <= 'f' ? c - 'a' + 10
                      : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                             : -1;
    if (digit < 0) {
      return std::nullopt;
    }
    value = (value << 4U) | static_cast<std::uint32_t>(digit);
    at.Advance();
  }
  return value;
}

// \xHH, \uHHHH or \UHHHHHHHH, after the letter. Two \u may make one character, as in JSON.
bool ReadCodePoint(Cursor& at, int digits, std::string& text) {
  const auto first = ReadHex(at, digits);
  if (!first) {
    return false;
  }
  std::uint32_t point = *first;
  if (digits == 4 && point >= 0xd800 && point <= 0xdbff && at.AtText("\\u")) {
    at.Advance(2);
    const auto second = ReadHex(at, 4);
    if (!second || *second < 0xdc00 || *second > 0xdfff) {
      return false;
    }
    point = 0x10000U + ((point - 0xd800U) << 10U) + (*second - 0xdc00U);
  }
  if ((point >= 0xd800 && point <= 0xdfff) || point > 0x10ffff) {
    return false;
  }
  AppendUtf8(point, text);
  return true;
}

struct Escape {
  char letter;
  std::string_view meaning;
};
constexpr auto kEscapes = std::to_array<Escape>({{'0', std::string_view("\0", 1)},
                                                 {'a', "\a"},
                                                 {'b', "\b"},
                                                 {'t', "\t"},
                                                 {'\t', "\t"},
                                                 {'n', "\n"},
                                                 {'v', "\v"},
                                                 {'f', "\f"},
                                                 {'r', "\r"},
                                                 {'e', "\x1b"},
                                                 {' ', " "},
                                                 {'"', "\""},
                                                 {'/', "/"},
                                                 {'\\', "\\"},
                                                 {'N', "\xc2\x85"},
                                                 {'_', "\xc2\xa0"},
                                                 {'L', "\xe2\x80\xa8"},
                                                 {'P', "\xe2\x80\xa9"}});

}  // namespace

bool ReadEscape(Cursor& at, std::string& text, Fault& fault) {
  const Cursor begin = at;
  const char letter = at.Peek(1);
  at.Advance(2);
  const int digits = letter == 'x' ? 2 : letter == 'u' ? 4 : letter == 'U' ? 8 : 0;
  if (digits != 0) {
    if (ReadCodePoint(at, digits, text)) {
      return true;
    }
    fault = FaultAt(begin, std::string("\\") + letter + " needs " + std::to_string(digits) +
                               " hexadecimal digits of a character");
    return false;
  }
  const auto* const known = std::ranges::find(kEscapes, letter, &Escape::letter);
  if (known == kEscapes.end()) {
    fault =
        FaultAt(begin, std::string("unknown escape \\") + letter +
                           " in double quotes: write \\\\ for a backslash, or use single quotes");
    return false;
  }
  text += known->meaning;
  return true;
}

}  // namespace sluice::yaml
