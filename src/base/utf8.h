#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace sluice::base {

// How many bytes the UTF-8 sequence at the front of `text` has (1 to 4), or 0 where none is:
// overlong forms, surrogates and code points above U+10FFFF are invalid (RFC 3629).
[[nodiscard]] constexpr std::size_t Utf8SequenceSize(std::string_view text) {
  const auto byte = [&](std::size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U;
  };
  const auto goes_on = [&](std::size_t i) { return (byte(i) & 0xc0U) == 0x80U; };
  const unsigned first = byte(0);
  if (text.empty()) {
    return 0;
  }
  if (first < 0x80) {
    return 1;
  }
  if (first >= 0xc2 && first <= 0xdf) {
    return goes_on(1) ? 2 : 0;
  }
  if (first >= 0xe0 && first <= 0xef) {
    const bool sound = (first != 0xe0 || byte(1) >= 0xa0) && (first != 0xed || byte(1) <= 0x9f);
    return sound && goes_on(1) && goes_on(2) ? 3 : 0;
  }
  if (first >= 0xf0 && first <= 0xf4) {
    const bool sound = (first != 0xf0 || byte(1) >= 0x90) && (first != 0xf4 || byte(1) <= 0x8f);
    return sound && goes_on(1) && goes_on(2) && goes_on(3) ? 4 : 0;
  }
  return 0;
}

// The character of the UTF-8 sequence at the front of `text`. Requires its size, as
// Utf8SequenceSize() gives it, not 0.
[[nodiscard]] constexpr char32_t Utf8CodePoint(std::string_view text, std::size_t size) {
  constexpr std::array<unsigned, 5> kLeadBits{0, 0x7f, 0x1f, 0x0f, 0x07};
  char32_t code = static_cast<unsigned char>(text[0]) & kLeadBits[size];
  for (std::size_t i = 1; i < size; ++i) {
    code = (code << 6U) | (static_cast<unsigned char>(text[i]) & 0x3fU);
  }
  return code;
}

[[nodiscard]] constexpr bool IsUtf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t size = Utf8SequenceSize(text);
    if (size == 0) {
      return false;
    }
    text.remove_prefix(size);
  }
  return true;
}

}  // namespace sluice::base
