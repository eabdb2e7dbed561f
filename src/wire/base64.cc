#include "wire/base64.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace sluice::wire {

namespace {

constexpr std::string_view kLetters =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

constexpr std::uint8_t kNone = 255;

constexpr std::array<std::uint8_t, 256> Values() {
  std::array<std::uint8_t, 256> values{};
  values.fill(kNone);
  for (std::size_t i = 0; i < kLetters.size(); ++i) {
    values[static_cast<unsigned char>(kLetters[i])] = static_cast<std::uint8_t>(i);
  }
  return values;
}
constexpr std::array<std::uint8_t, 256> kValues = Values();

}  // namespace

void AppendBase64Url(std::string& out, std::string_view bytes) {
  std::uint32_t bits = 0;
  unsigned held = 0;
  for (const char byte : bytes) {
    bits = (bits << 8U) | static_cast<unsigned char>(byte);
    held += 8;
    while (held >= 6) {
      held -= 6;
      out += kLetters[(bits >> held) & 63U];
    }
  }
  if (held > 0) {
    out += kLetters[(bits << (6 - held)) & 63U];
  }
}

bool AppendFromBase64Url(std::string& out, std::string_view text) {
  const std::size_t before = out.size();
  std::uint32_t bits = 0;
  unsigned held = 0;
  bool good = text.size() % 4 != 1;
  for (std::size_t i = 0; good && i < text.size(); ++i) {
    const std::uint8_t value = kValues[static_cast<unsigned char>(text[i])];
    good = value != kNone;
    bits = (bits << 6U) | value;
    held += 6;
    if (held >= 8) {
      held -= 8;
      out += static_cast<char>((bits >> held) & 255U);
    }
  }
  good = good && (bits & ((1U << held) - 1)) == 0;
  if (!good) {
    out.resize(before);
  }
  return good;
}

std::string ToBase64(std::string_view bytes) {
  std::string text;
  AppendBase64Url(text, bytes);
  std::ranges::replace(text, '-', '+');
  std::ranges::replace(text, '_', '/');
  text.append((4 - text.size() % 4) % 4, '=');
  return text;
}

std::optional<std::string> FromBase64(std::string_view text) {
  if (text.size() % 4 != 0 || text.find_first_of("-_") != std::string_view::npos) {
    return std::nullopt;
  }
  for (int padding = 0; padding < 2 && text.ends_with('='); ++padding) {
    text.remove_suffix(1);
  }
  std::string url(text);
  std::ranges::replace(url, '+', '-');
  std::ranges::replace(url, '/', '_');
  std::string bytes;
  return AppendFromBase64Url(bytes, url) ? std::optional(std::move(bytes)) : std::nullopt;
}

}  // namespace sluice::wire
