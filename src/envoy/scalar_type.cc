#include "envoy/scalar_type.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <string>

#include "wire/ascii.h"

namespace sluice::envoy {

namespace {

constexpr std::array<std::string_view, 11> kTrue{"y",    "Y",    "yes", "Yes", "YES", "true",
                                                 "True", "TRUE", "on",  "On",  "ON"};
constexpr std::array<std::string_view, 11> kFalse{"n",     "N",     "no",  "No",  "NO", "false",
                                                  "False", "FALSE", "off", "Off", "OFF"};
constexpr std::array<std::string_view, 5> kNull{"", "~", "null", "Null", "NULL"};
constexpr std::array<std::string_view, 3> kInfinite{".inf", ".Inf", ".INF"};
constexpr std::array<std::string_view, 3> kNotANumber{".nan", ".NaN", ".NAN"};

bool IsOneOf(std::string_view text, auto& words) {
  return std::ranges::find(words, text) != words.end();
}

// How many digits stand at the front, which are taken off.
std::size_t TakeDigits(std::string_view& text) {
  std::size_t count = 0;
  while (count < text.size() && wire::IsDigit(text[count])) {
    ++count;
  }
  text.remove_prefix(count);
  return count;
}

bool TakeSign(std::string_view& text) {
  if (text.starts_with('+') || text.starts_with('-')) {
    text.remove_prefix(1);
    return true;
  }
  return false;
}

std::string WithoutUnderscores(std::string_view text) {
  std::string plain(text);
  std::erase(plain, '_');
  return plain;
}

// [-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?
bool IsFloat(std::string_view text) {
  TakeSign(text);
  const std::size_t whole = TakeDigits(text);
  std::size_t part = 0;
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    part = TakeDigits(text);
  }
  if (whole == 0 && part == 0) {
    return false;
  }
  if (text.starts_with('e') || text.starts_with('E')) {
    text.remove_prefix(1);
    TakeSign(text);
    if (TakeDigits(text) == 0) {
      return false;
    }
  }
  return text.empty();
}

// 2001-12-14, and with a time behind it.
bool IsTimestamp(std::string_view text) {
  std::string_view rest = text;
  if (TakeDigits(rest) != 4 || !rest.starts_with('-')) {
    return false;
  }
  rest.remove_prefix(1);
  const std::size_t month = TakeDigits(rest);
  if (month < 1 || month > 2 || !rest.starts_with('-')) {
    return false;
  }
  rest.remove_prefix(1);
  const std::size_t day = TakeDigits(rest);
  return day >= 1 && day <= 2 &&
         (rest.empty() || rest.front() == 'T' || rest.front() == 't' || rest.front() == ' ');
}

}  // namespace

std::optional<std::int64_t> IntegerOf(std::string_view text) {
  const std::string plain = WithoutUnderscores(text);
  std::string_view digits = plain;
  const bool negative = digits.starts_with('-');
  TakeSign(digits);
  int base = 10;
  if (digits.size() > 1 && digits.front() == '0') {
    const char mark = digits[1];
    base = mark == 'x' || mark == 'X' ? 16 : mark == 'b' || mark == 'B' ? 2 : 8;
    digits.remove_prefix(base != 8 || mark == 'o' || mark == 'O' ? 2 : 1);
  }
  std::uint64_t size = 0;
  const char* const last = digits.data() + digits.size();
  const auto [end, error] = std::from_chars(digits.data(), last, size, base);
  constexpr std::uint64_t kMost = std::numeric_limits<std::int64_t>::max();
  if (digits.empty() || error != std::errc() || end != last || size > kMost) {
    return std::nullopt;
  }
  const auto value = static_cast<std::int64_t>(size);
  return negative ? -value : value;
}

double NumberOf(std::string_view text) {
  if (const auto whole = IntegerOf(text)) {
    return static_cast<double>(*whole);
  }
  const std::string plain = WithoutUnderscores(text);
  const char* const first = plain.data() + (plain.starts_with('+') ? 1 : 0);
  double number = 0;
  (void)std::from_chars(first, plain.data() + plain.size(), number);
  return number;
}

bool TruthOf(std::string_view text) {
  return IsOneOf(text, kTrue);
}

ScalarType TypeOf(const yaml::Node& node) {
  const std::string_view text = node.text;
  if (node.is_null() || (!node.quoted && IsOneOf(text, kNull))) {
    return ScalarType::kNull;
  }
  if (node.quoted) {
    return ScalarType::kText;
  }
  if (IsOneOf(text, kTrue) || IsOneOf(text, kFalse)) {
    return ScalarType::kBool;
  }
  std::string_view unsigned_text = text;
  TakeSign(unsigned_text);
  if (IsOneOf(unsigned_text, kInfinite) || IsOneOf(text, kNotANumber)) {
    return ScalarType::kFloat;
  }
  if (unsigned_text.empty() ||
      !(wire::IsDigit(unsigned_text.front()) || unsigned_text.front() == '.')) {
    return ScalarType::kText;
  }
  if (IsTimestamp(text)) {
    return ScalarType::kTimestamp;
  }
  if (IntegerOf(text)) {
    return ScalarType::kInt;
  }
  return IsFloat(WithoutUnderscores(text)) ? ScalarType::kFloat : ScalarType::kText;
}

std::string_view TagOf(ScalarType type) {
  switch (type) {
    case ScalarType::kNull:
      return "!!null";
    case ScalarType::kBool:
      return "!!bool";
    case ScalarType::kInt:
      return "!!int";
    case ScalarType::kFloat:
      return "!!float";
    case ScalarType::kTimestamp:
      return "!!timestamp";
    case ScalarType::kText:
      break;
  }
  return "!!str";
}

}  // namespace sluice::envoy
