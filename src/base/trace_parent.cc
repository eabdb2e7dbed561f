#include "base/trace_parent.h"

#include <algorithm>
#include <cstddef>
#include <span>

namespace sluice::base {

namespace {

// version "-" trace-id "-" parent-id "-" trace-flags
constexpr std::size_t kSize = 55;
constexpr std::size_t kTraceIdAt = 3;
constexpr std::size_t kParentIdAt = 36;
constexpr std::size_t kFlagsAt = 53;
constexpr std::uint8_t kSampled = 1;

// The standard allows small letters only. 16 and above: not a digit.
std::uint8_t DigitOf(char c) {
  if (c >= '0' && c <= '9') {
    return static_cast<std::uint8_t>(c - '0');
  }
  return c >= 'a' && c <= 'f' ? static_cast<std::uint8_t>(c - 'a' + 10) : std::uint8_t{16};
}

bool ReadHex(std::string_view text, std::span<std::uint8_t> bytes) {
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const std::uint8_t high = DigitOf(text[2 * i]);
    const std::uint8_t low = DigitOf(text[2 * i + 1]);
    if (high > 15 || low > 15) {
      return false;
    }
    bytes[i] = static_cast<std::uint8_t>((high << 4U) | low);
  }
  return true;
}

bool IsZero(std::span<const std::uint8_t> id) {
  return std::ranges::all_of(id, [](std::uint8_t byte) { return byte == 0; });
}

}  // namespace

void TraceParent::Take(std::string_view text) {
  sampled_ = false;
  if (text.size() < kSize || text[2] != '-' || text[kParentIdAt - 1] != '-' ||
      text[kFlagsAt - 1] != '-') {
    return;
  }
  std::array<std::uint8_t, 1> version{};
  std::array<std::uint8_t, 1> flags{};
  if (!ReadHex(text, version) || !ReadHex(text.substr(kTraceIdAt), trace_id_) ||
      !ReadHex(text.substr(kParentIdAt), parent_id_) || !ReadHex(text.substr(kFlagsAt), flags)) {
    return;
  }
  const bool ends_well =
      version[0] == 0 ? text.size() == kSize : text.size() == kSize || text[kSize] == '-';
  if (version[0] == 0xff || !ends_well || IsZero(trace_id_) || IsZero(parent_id_) ||
      (flags[0] & kSampled) == 0) {
    return;
  }
  sampled_ = true;
  text.copy(trace_id_text_.data(), trace_id_text_.size(), kTraceIdAt);
  taken_at_ = std::chrono::steady_clock::now();
}

}  // namespace sluice::base
