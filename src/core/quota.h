#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "sluice/decision.h"
#include "sluice/time.h"

#include "core/reserves.h"

namespace sluice::core {

class Calendar;

enum class Algorithm : std::uint8_t {
  kFixedWindow,
  kSlidingWindowLog,
  kSlidingWindowCounter,
  kSlidingWindow,
  kTokenBucket,
  kGcra,
  kLeakyBucket,
  kConcurrency,
  // Those that no rule may name.
  kThrottle,       // A gcra whose numbers come with each check: core/throttle.h.
  kAttemptWindow,  // A fixed window that counts denials too, for Envoy's domains:
                   // core/attempt_window.h.
};
inline constexpr int kAlgorithmCount = 8;  // Those that a rule may name.

// "fixed_window", ...: the words of rule files; "throttle", "attempt window".
[[nodiscard]] std::string_view NameOf(Algorithm algorithm);
// nullopt also for "throttle" and "attempt window".
[[nodiscard]] std::optional<Algorithm> AlgorithmNamed(std::string_view name);

// token_bucket, gcra and leaky_bucket: one class under three names. throttle has their numbers.
[[nodiscard]] constexpr bool IsBucket(Algorithm a) {
  return a == Algorithm::kTokenBucket || a == Algorithm::kGcra || a == Algorithm::kLeakyBucket ||
         a == Algorithm::kThrottle;
}

// The longest window, and the longest time that a bucket may take to refill: 100 years.
// With it every instant, and every debt in units x nanoseconds, stays exact in the widths
// chosen (64 and 128 bits) until the year 2162.
inline constexpr Duration kLongestHorizon = std::chrono::hours(24) * 36'500;
inline constexpr int kMaxSegments = 64;
// The fewest of those measured with which no more logs would gain: docs/accuracy.md.
inline constexpr int kDefaultSegments = 48;
// With `strict`, which estimates nothing: the length of a segment only says how late a unit comes
// back.
inline constexpr int kDefaultStrictSegments = 8;

// The numbers by which one check is judged: a plain value that a check carries to its
// store. Fields that its algorithm does not use keep their defaults. FaultOf() is the one
// place that says which combinations are possible; the steps require it to be silent.
struct Quota {
  Algorithm algorithm = Algorithm::kFixedWindow;
  bool unlimited = false;                    // Lets all pass; every other number is ignored.
  bool strict = false;                       // sliding_window: the oldest segment counts whole.
  bool shape = false;                        // leaky_bucket: allow and say how long to wait.
  std::uint8_t segments = kDefaultSegments;  // sliding_window: 1 to kMaxSegments.
  PriorityTag priority = 0;  // concurrency: whose share of `reserves` the caller may use; 0: none.
  Units limit = 0;           // Windows, concurrency: the limit. Buckets: the burst.
  Units rate = 0;            // Buckets: units refilled per window.
  Duration window{};         // Windows and buckets: a whole number of milliseconds, at least 1.
                             // throttle: of whole seconds. concurrency: hold_ttl. Not used
                             // with a calendar.
  const Calendar* calendar = nullptr;  // fixed_window by civil periods. Outlives every check.
  const Reserves* reserves = nullptr;  // concurrency: shares kept for priorities. The same.
};

// "at most this many per window": a bucket's rate, the limit of all others.
[[nodiscard]] constexpr Units LimitPerWindow(const Quota& quota) {
  return IsBucket(quota.algorithm) ? quota.rate : quota.limit;
}

// How long a bucket takes to refill from empty; kLongestHorizon where it never does or takes
// longer.
[[nodiscard]] Duration RefillTime(const Quota& quota);

// Of what must stay the same for a key's state to mean the same: algorithm, window, segments,
// calendar. Not its numbers. For comparing, not for secrets.
[[nodiscard]] std::uint64_t ShapeDigest(const Quota& quota);

// concurrency: the most that this caller's priority may ever have in flight.
[[nodiscard]] inline Units CeilingOf(const Quota& quota) {
  return quota.reserves == nullptr
             ? quota.limit
             : quota.limit - quota.reserves->OthersShares(quota.limit, quota.priority);
}

// What makes these numbers impossible, as one sentence with the remedy; nullopt if
// nothing. Checks ranges (0..kMaxUnits), the window, segments, and that
// burst * window / rate stays within kLongestHorizon.
[[nodiscard]] std::optional<std::string> FaultOf(const Quota& quota);

}  // namespace sluice::core
