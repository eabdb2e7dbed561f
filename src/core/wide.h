#pragma once

#include <cstdint>
#include <limits>

#include "sluice/decision.h"

// Arithmetic wider than 64 bits, and the sums that saturate. A debt is at most
// kMaxUnits x kLongestHorizon = 3.2e33 < 2^112, so 128 bits never overflow; only what
// comes back as a time has to be cut.
namespace sluice::core {

__extension__ typedef unsigned __int128 U128;  // NOLINT(modernize-use-using): __extension__.

// The longest wait that is still a number: longer ones are cut to it.
inline constexpr std::int64_t kLongestWaitNs = Decision::kUnknown.count() - 1;

[[nodiscard]] constexpr U128 Multiply(std::uint64_t a, std::uint64_t b) {
  return U128{a} * b;
}

struct Quotient {
  std::uint64_t value = 0;
  std::uint64_t rest = 0;
};

// n / d where the quotient is known to fit 64 bits, that is (n >> 64) < d. The compiler
// would call __udivti3, which has to be ready for more; one `div` does it.
[[nodiscard]] inline Quotient DivideFitting(U128 n, std::uint64_t d) {
  const auto high = static_cast<std::uint64_t>(n >> 64);
  const auto low = static_cast<std::uint64_t>(n);
  if (high == 0) {
    return {low / d, low % d};
  }
#if defined(__x86_64__)
  Quotient q;
  __asm__("divq %4" : "=a"(q.value), "=d"(q.rest) : "a"(low), "d"(high), "r"(d) : "cc");
  return q;
#else
  return {static_cast<std::uint64_t>(n / d), static_cast<std::uint64_t>(n % d)};
#endif
}

// floor(n / d) and ceil(n / d), cut at the largest 64-bit number. Require d > 0.
[[nodiscard]] inline std::uint64_t FloorDivide(U128 n, std::uint64_t d) {
  if (static_cast<std::uint64_t>(n >> 64) >= d) {
    return std::numeric_limits<std::uint64_t>::max();
  }
  return DivideFitting(n, d).value;
}

[[nodiscard]] inline std::uint64_t CeilDivide(U128 n, std::uint64_t d) {
  if (static_cast<std::uint64_t>(n >> 64) >= d) {
    return std::numeric_limits<std::uint64_t>::max();
  }
  const Quotient q = DivideFitting(n, d);
  const bool up = q.rest != 0 && q.value != std::numeric_limits<std::uint64_t>::max();
  return q.value + (up ? 1U : 0U);
}

// Nanoseconds as a wait, cut to kLongestWaitNs.
[[nodiscard]] constexpr std::int64_t AsWait(std::uint64_t ns) {
  return ns < static_cast<std::uint64_t>(kLongestWaitNs) ? static_cast<std::int64_t>(ns)
                                                         : kLongestWaitNs;
}

// Sums and differences of instants, cut where 64 bits end. Only stamps centuries away from
// 1970 get there, and they are answered sensibly instead of wrapping.
[[nodiscard]] constexpr std::int64_t Plus(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) {
    return b < 0 ? std::numeric_limits<std::int64_t>::min()
                 : std::numeric_limits<std::int64_t>::max();
  }
  return sum;
}

[[nodiscard]] constexpr std::int64_t Minus(std::int64_t a, std::int64_t b) {
  std::int64_t difference = 0;
  if (__builtin_sub_overflow(a, b, &difference)) {
    return b < 0 ? std::numeric_limits<std::int64_t>::max()
                 : std::numeric_limits<std::int64_t>::min();
  }
  return difference;
}

// later - earlier where later >= earlier: never overflows.
[[nodiscard]] constexpr std::uint64_t Elapsed(std::int64_t earlier, std::int64_t later) {
  return static_cast<std::uint64_t>(later) - static_cast<std::uint64_t>(earlier);
}

// From `now` until `then`, as a wait: 0 if that is past.
[[nodiscard]] constexpr std::int64_t Until(std::int64_t now, std::int64_t then) {
  return then <= now ? 0 : AsWait(Elapsed(now, then));
}

// The part of `t` that is past the last multiple of `step`, also before 1970. step > 0.
[[nodiscard]] constexpr std::int64_t PastMultiple(std::int64_t t, std::int64_t step) {
  const std::int64_t rest = t % step;
  return rest < 0 ? rest + step : rest;
}

}  // namespace sluice::core
