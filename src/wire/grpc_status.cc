#include "wire/grpc_status.h"

#include <array>
#include <charconv>

namespace sluice::wire {

std::string_view DigitsOf(GrpcCode code) {
  constexpr std::array<std::string_view, 17> kDigits{
      "0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12", "13", "14", "15", "16"};
  return kDigits[static_cast<std::size_t>(code)];
}

void AppendGrpcMessage(std::string& out, std::string_view text) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  for (const char c : text) {
    if (c >= ' ' && c <= '~' && c != '%') {
      out += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      out += '%';
      out += kHex[byte >> 4U];
      out += kHex[byte & 15U];
    }
  }
}

std::optional<Duration> ReadGrpcTimeout(std::string_view text) {
  if (text.size() < 2 || text.size() > 9) {
    return std::nullopt;
  }
  std::int64_t count = 0;
  const char* const last = text.data() + text.size() - 1;
  const auto [end, error] = std::from_chars(text.data(), last, count);
  if (error != std::errc() || end != last || count < 0 || text.front() == '-') {
    return std::nullopt;
  }
  switch (*last) {
    case 'H':
      // Eight digits of hours are more than a Duration holds; a century is as good as never.
      return std::chrono::hours(count < 876'000 ? count : 876'000);
    case 'M':
      return std::chrono::minutes(count < 52'560'000 ? count : 52'560'000);
    case 'S':
      return std::chrono::seconds(count);
    case 'm':
      return std::chrono::milliseconds(count);
    case 'u':
      return std::chrono::microseconds(count);
    case 'n':
      return std::chrono::nanoseconds(count);
    default:
      return std::nullopt;
  }
}

}  // namespace sluice::wire
