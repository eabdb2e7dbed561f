#include "time_text.h"

#include <chrono>
#include <ctime>

#include <fmt/chrono.h>
#include <fmt/format.h>

namespace sluice::app {

namespace {

constexpr std::int64_t kSecond = 1000;
constexpr std::int64_t kMinute = 60 * kSecond;
constexpr std::int64_t kHour = 60 * kMinute;
constexpr std::int64_t kDay = 24 * kHour;

std::int64_t CeilOf(std::int64_t milliseconds, std::int64_t unit) {
  return milliseconds / unit + (milliseconds % unit == 0 ? 0 : 1);
}

// In two units, of which the smaller one is left out if it is 0.
std::string InTwo(std::int64_t milliseconds, std::int64_t large, const char* large_name,
                  std::int64_t small, const char* small_name) {
  const std::int64_t count = CeilOf(milliseconds, small);
  const std::int64_t of_large = count / (large / small);
  const std::int64_t of_small = count % (large / small);
  return of_small == 0 ? fmt::format("{} {}", of_large, large_name)
                       : fmt::format("{} {} {} {}", of_large, large_name, of_small, small_name);
}

}  // namespace

std::string WaitText(std::int64_t milliseconds) {
  if (milliseconds < kSecond) {
    return fmt::format("{} ms", milliseconds > 0 ? milliseconds : 0);
  }
  if (milliseconds < kMinute) {
    const std::int64_t tenths = CeilOf(milliseconds, kSecond / 10);
    return tenths % 10 == 0 ? fmt::format("{} s", tenths / 10)
                            : fmt::format("{}.{} s", tenths / 10, tenths % 10);
  }
  if (milliseconds < kHour) {
    return InTwo(milliseconds, kMinute, "min", kSecond, "s");
  }
  return milliseconds < kDay ? InTwo(milliseconds, kHour, "h", kMinute, "min")
                             : InTwo(milliseconds, kDay, "d", kHour, "h");
}

std::string ClockText(std::int64_t at, std::int64_t now) {
  const auto second = static_cast<std::time_t>(at / kSecond);
  constexpr std::int64_t kLast = 253'402'300'799;  // Of the year 9999.
  if (at < 0 || second > kLast) {
    return fmt::format("Unix time {}", second);
  }
  const std::string time = fmt::format("{:%H:%M:%S}.{:03} UTC", fmt::gmtime(second), at % kSecond);
  return at / kDay == now / kDay ? time : fmt::format("{:%Y-%m-%d} ", fmt::gmtime(second)) + time;
}

std::string DistanceText(std::int64_t at, std::int64_t now) {
  return at < now ? WaitText(now - at) + " ago" : "in " + WaitText(at - now);
}

}  // namespace sluice::app
