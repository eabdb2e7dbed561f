#include "base/number_text.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <system_error>

namespace sluice {

namespace {

bool IsDigit(char c) {
  return c >= '0' && c <= '9';
}

// Takes the digits at the front off; whether there are any.
bool TakeDigits(std::string_view& text) {
  const auto* const end = std::ranges::find_if_not(text, IsDigit);
  const auto count = static_cast<std::size_t>(end - text.begin());
  text.remove_prefix(count);
  return count > 0;
}

}  // namespace

bool IsJsonNumber(std::string_view text) {
  if (text.starts_with('-')) {
    text.remove_prefix(1);
  }
  if (text.size() > 1 && text[0] == '0' && IsDigit(text[1])) {
    return false;
  }
  if (!TakeDigits(text)) {
    return false;
  }
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    if (!TakeDigits(text)) {
      return false;
    }
  }
  if (text.starts_with('e') || text.starts_with('E')) {
    text.remove_prefix(1);
    if (text.starts_with('+') || text.starts_with('-')) {
      text.remove_prefix(1);
    }
    if (!TakeDigits(text)) {
      return false;
    }
  }
  return text.empty();
}

// std::from_chars and to_chars are exact.
std::string_view NumberText(std::string_view number, NumberBuffer& buffer) {
  if (number.find_first_of(".eE") == std::string_view::npos) {
    return number == "-0" ? "0" : number;
  }
  double value = 0;
  if (std::from_chars(number.data(), number.data() + number.size(), value).ec != std::errc()) {
    return number;
  }
  if (value == 0) {
    return "0";
  }
  const auto [end, error] = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
  return {buffer.data(), static_cast<std::size_t>(end - buffer.data())};
}

}  // namespace sluice
