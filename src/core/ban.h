#pragma once

#include "sluice/decision.h"
#include "sluice/time.h"

namespace sluice::core {

// What refuses a key outright: `after` denials within `within` ban it for `lasts`. The rule of a
// check says it by value, so that a store needs to know no rule.
struct Ban {
  Units after = 0;    // 1 to kMostDenials.
  Duration within{};  // A whole number of milliseconds, at least 1; no longer than kLongestHorizon.
  Duration lasts{};   // The same.

  bool operator==(const Ban&) const = default;
};

// A key that is being denied keeps that many entries at most.
inline constexpr Units kMostDenials = 10'000;

// How long a banned key waits of whose ban `left` is left and which its limit would let wait
// `by_limit`: for both. Where the limit does not know when, the ban is at least known.
[[nodiscard]] constexpr Duration WaitOfBanned(Duration left, Duration by_limit) {
  return by_limit == Decision::kUnknown || by_limit < left ? left : by_limit;
}

// Whether a denial for this reason is the caller's doing, and counts. Denials by a reserve or for
// lack of room are not, and while a ban lasts nothing is counted.
[[nodiscard]] constexpr bool CountsTowardsBan(Reason reason) {
  return reason == Reason::kQuotaExceeded || reason == Reason::kCostExceedsCapacity ||
         reason == Reason::kLimitZero || reason == Reason::kInFlight;
}

}  // namespace sluice::core
