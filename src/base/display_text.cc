#include "base/display_text.h"

#include <algorithm>
#include <array>

#include "base/utf8.h"

namespace sluice::base {

namespace {

struct Range {
  char32_t first;
  char32_t last;
};

// In order.
constexpr std::array<Range, 13> kHidden{{{0x00, 0x1f},
                                         {0x7f, 0x9f},
                                         {0xad, 0xad},  // Soft hyphen.
                                         {0x61c, 0x61c},
                                         {0x180e, 0x180e},
                                         {0x200b, 0x200f},
                                         {0x2028, 0x202e},
                                         {0x2060, 0x206f},
                                         {0xfe00, 0xfe0f},  // Variation selectors.
                                         {0xfeff, 0xfeff},
                                         {0xfff9, 0xfffb},
                                         {0xe0000, 0xe0fff},
                                         {0x10ffff, 0x10ffff}}};

// Two columns each: the blocks that Unicode's East Asian Width calls wide, and emoji.
constexpr std::array<Range, 13> kWide{{{0x1100, 0x115f},
                                       {0x2e80, 0x303e},
                                       {0x3041, 0x33ff},
                                       {0x3400, 0x4dbf},
                                       {0x4e00, 0x9fff},
                                       {0xa000, 0xa4cf},
                                       {0xac00, 0xd7a3},
                                       {0xf900, 0xfaff},
                                       {0xfe30, 0xfe6f},
                                       {0xff00, 0xff60},
                                       {0xffe0, 0xffe6},
                                       {0x1f300, 0x1faff},
                                       {0x20000, 0x3fffd}}};

// No column: they stand on the character before them.
constexpr std::array<Range, 5> kCombining{
    {{0x300, 0x36f}, {0x1ab0, 0x1aff}, {0x1dc0, 0x1dff}, {0x20d0, 0x20ff}, {0xfe20, 0xfe2f}}};

template <std::size_t kSize>
bool IsIn(const std::array<Range, kSize>& ranges, char32_t code) {
  return std::ranges::any_of(
      ranges, [code](const Range& range) { return code >= range.first && code <= range.last; });
}

std::size_t ColumnsOf(char32_t code) {
  return code < 0x300 ? 1 : IsIn(kWide, code) ? 2 : IsIn(kCombining, code) ? 0 : 1;
}

void AppendHex(char32_t number, int least_digits, std::string& out) {
  constexpr std::string_view kHex = "0123456789abcdef";
  std::array<char, 8> digits;  // NOLINT(*-member-init): written before it is read.
  int count = 0;
  do {
    digits[static_cast<std::size_t>(count++)] = kHex[number & 15U];
    number >>= 4U;
  } while (number != 0 || count < least_digits);
  while (count > 0) {
    out += digits[static_cast<std::size_t>(--count)];
  }
}

void AppendByte(char byte, std::string& out) {
  out += "\\x";
  AppendHex(static_cast<unsigned char>(byte), 2, out);
}

void AppendHidden(char32_t code, std::string& out) {
  if (code > 0xffff) {
    out += "\\u{";
    AppendHex(code, 1, out);
    out += '}';
  } else {
    out += "\\u";
    AppendHex(code, 4, out);
  }
}

}  // namespace

bool IsDisplayable(char32_t code) {
  return (code >= 0x20 && code < 0x7f) || !IsIn(kHidden, code);
}

void AppendDisplayText(std::string_view text, std::string& out, LineFeeds line_feeds) {
  while (!text.empty()) {
    const std::size_t size = Utf8SequenceSize(text);
    const char32_t code = size == 0 ? 0 : Utf8CodePoint(text, size);
    if (IsDisplayable(code) || (code == '\n' && line_feeds == LineFeeds::kKept)) {
      out += text.substr(0, size);
    } else if (size <= 1) {
      AppendByte(text.front(), out);
    } else {
      AppendHidden(code, out);
    }
    text.remove_prefix(std::max<std::size_t>(size, 1));
  }
}

std::string DisplayText(std::string_view text, LineFeeds line_feeds) {
  std::string shown;
  AppendDisplayText(text, shown, line_feeds);
  return shown;
}

std::size_t ColumnsOf(std::string_view text) {
  std::size_t columns = 0;
  while (!text.empty()) {
    const std::size_t size = Utf8SequenceSize(text);
    columns += size == 0 ? 1 : ColumnsOf(Utf8CodePoint(text, size));
    text.remove_prefix(std::max<std::size_t>(size, 1));
  }
  return columns;
}

std::string DisplayText(std::string_view text, std::size_t columns) {
  std::string shown = DisplayText(text);
  if (ColumnsOf(shown) <= columns) {
    return shown;
  }
  if (columns == 0) {
    return {};
  }
  // All but the last column, which says that something was cut.
  std::size_t taken = 0;
  std::size_t bytes = 0;
  while (bytes < shown.size()) {
    const std::string_view rest = std::string_view(shown).substr(bytes);
    const std::size_t size = Utf8SequenceSize(rest);
    const std::size_t width = ColumnsOf(Utf8CodePoint(rest, size));
    if (taken + width > columns - 1) {
      break;
    }
    taken += width;
    bytes += size;
  }
  shown.resize(bytes);
  return shown + "…";
}

}  // namespace sluice::base
