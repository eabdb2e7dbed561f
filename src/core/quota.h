#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "sluice/decision.h"
#include "sluice/time.h"

#include "core/algorithm.h"
#include "core/reserves.h"

namespace sluice::core {

class Calendar;

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

// How long a charge made at `charged` counts at most: until its window ends, a window's length, or
// for as long as a bucket takes to refill.
[[nodiscard]] Duration CountsFor(const Quota& quota, WallInstant charged);
// The same for a charge made at any time.
[[nodiscard]] Duration LongestCount(const Quota& quota);

// concurrency: the most that this caller's priority may ever have in flight.
[[nodiscard]] inline Units CeilingOf(const Quota& quota) {
  return quota.reserves == nullptr
             ? quota.limit
             : quota.limit - quota.reserves->OthersShares(quota.limit, quota.priority);
}

// What a fresh key grants: nothing if it is never refilled.
[[nodiscard]] inline Units CapacityOf(const Quota& quota) {
  return IsBucket(quota.algorithm) && quota.rate == 0 ? 0 : CeilingOf(quota);
}

// The algorithm that a rule names so.
[[nodiscard]] std::optional<Algorithm> AlgorithmNamed(std::string_view name);
// The rules' algorithms that have such a number: "token_bucket, gcra and leaky_bucket".
[[nodiscard]] std::string OwnersOf(QuotaField field);

// What makes these numbers impossible, as one sentence with the remedy; nullopt if
// nothing. Checks ranges (0..kMaxUnits), the window, segments, and that
// burst * window / rate stays within kLongestHorizon.
[[nodiscard]] std::optional<std::string> FaultOf(const Quota& quota);

// Where a key's use is known, if nodes share a store. Without one all three mean the same: the
// table.
enum class Sync : std::uint8_t {
  kExact,  // The shared store, which is asked for every request.
  kLease,  // The shared store, from which a node borrows units, to decide by those it holds.
  kLocal,  // Each node for itself, in its own table: each grants the whole quota.
};

// "exact", "lease", "local": the words of rule files.
[[nodiscard]] std::string_view NameOf(Sync sync);

// Whether a node may hold units of such a quota that it did not spend yet. What queues, what
// promises to be exact at every instant, and what is given back by its holder cannot be lent.
[[nodiscard]] constexpr bool CanBeLent(const Quota& quota) {
  return Is<&AlgorithmTraits::can_be_lent>(quota.algorithm) && !quota.shape;
}

// Why such a quota cannot have that `sync`, as one sentence with the remedy; nullopt if it can.
[[nodiscard]] std::optional<std::string> FaultOf(Sync sync, const Quota& quota);

}  // namespace sluice::core
