#pragma once

#include <charconv>
#include <cstdint>
#include <string_view>

namespace sluice::wire {

// The lower case of an ASCII letter; other characters are unchanged. Independent of the locale.
[[nodiscard]] constexpr char ToLower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
}

// The upper case, in the same way.
[[nodiscard]] constexpr char ToUpper(char c) {
  return c >= 'a' && c <= 'z' ? static_cast<char>(c - ('a' - 'A')) : c;
}

[[nodiscard]] constexpr bool EqualsIgnoreCase(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) {
    return false;
  }
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (ToLower(a[i]) != ToLower(b[i])) {
      return false;
    }
  }
  return true;
}

[[nodiscard]] constexpr bool IsDigit(char c) {
  return c >= '0' && c <= '9';
}

// The value of a hex digit, or -1.
[[nodiscard]] constexpr int HexValue(char c) {
  if (IsDigit(c)) {
    return c - '0';
  }
  const char lower = ToLower(c);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

// Reads a whole number: an optional '-' and digits, and nothing else in `text`. False, with
// `number` unchanged, if `text` is not such a number or does not fit 64 bits.
[[nodiscard]] inline bool ReadRespNumber(std::string_view text, std::int64_t& number) {
  std::int64_t read = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), read);
  if (error != std::errc() || stop != text.data() + text.size()) {
    return false;
  }
  number = read;
  return true;
}

}  // namespace sluice::wire
