#pragma once

#include <cstdint>
#include <limits>

#include "sluice/decision.h"
#include "sluice/time.h"

// How the numbers of a decision are rounded for callers: always so that no caller returns too
// early. Pure functions.
namespace sluice::service {

// Units times nanoseconds, and instants plus the longest waits, exceed 64 bits.
__extension__ using Int128 = __int128;

// The least whole number of `unit`s that is not less than `time`; 0 for what has passed.
[[nodiscard]] constexpr std::int64_t CeilOf(Duration time, Duration unit) {
  if (time.count() <= 0) {
    return 0;
  }
  return (time.count() - 1) / unit.count() + 1;
}
[[nodiscard]] constexpr std::int64_t CeilSeconds(Duration time) {
  return CeilOf(time, std::chrono::seconds(1));
}
[[nodiscard]] constexpr std::int64_t CeilMilliseconds(Duration time) {
  return CeilOf(time, std::chrono::milliseconds(1));
}

// The least whole number that is not less than value / by; 0 if that is negative. `by` > 0. Nearly
// always both fit 64 bits, where the processor can divide.
[[nodiscard]] constexpr Int128 CeilDivide(Int128 value, Int128 by) {
  constexpr Int128 kNarrow = std::numeric_limits<std::uint64_t>::max();
  if (value <= 0) {
    return 0;
  }
  if (value <= kNarrow && by <= kNarrow) {
    return static_cast<Int128>((static_cast<std::uint64_t>(value) - 1) /
                               static_cast<std::uint64_t>(by)) +
           1;
  }
  return (value - 1) / by + 1;
}

// Neither kNever nor kUnknown: a number.
[[nodiscard]] constexpr bool IsKnown(Duration wait) {
  return wait < Decision::kUnknown;
}

}  // namespace sluice::service
