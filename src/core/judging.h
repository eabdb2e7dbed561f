#pragma once

#include <cstdint>

#include "sluice/decision.h"
#include "sluice/time.h"

#include "core/quota.h"
#include "core/wide.h"

// What all algorithms' steps share, so that limit 0, cost 0, `unlimited` and clocks that
// step back mean the same in each.
namespace sluice::core {

// A check and a peek are judged alike; they differ in what is reported and kept.
enum class Verb : std::uint8_t { kCheck, kPeek };

[[nodiscard]] constexpr Decision UnlimitedDecision() {
  Decision decision;
  decision.allowed = true;
  decision.limit = kUnlimited;
  decision.remaining = kUnlimited;
  return decision;
}

// The reason for which a cost can never pass, whatever the state; kNone if it can.
// `capacity` is what a fresh key grants.
[[nodiscard]] constexpr Reason ReasonForNever(Units capacity, Cost cost) {
  if (capacity == 0) {
    return Reason::kLimitZero;
  }
  return cost.units > capacity ? Reason::kCostExceedsCapacity : Reason::kNone;
}

constexpr void Deny(Decision& decision, Reason reason, Duration retry_after) {
  decision.allowed = false;
  decision.reason = reason;
  decision.retry_after = retry_after;
}

// Where a step stands in time, seen from a state last written at `touched`.
struct TimeReading {
  std::int64_t now = 0;   // Never before the state's times, once they are moved by `back`.
  std::int64_t back = 0;  // By how much the state's times are to be moved back first.
};

// A clock that reads earlier than the state has stepped back. Time then stands still: a
// shared store moves the state's times back with its clock, so that time goes on from
// there; the table's own line never steps, so that at most two threads' readings crossed,
// and the later one counts.
template <class Timeline>
[[nodiscard]] constexpr TimeReading ReadTime(std::int64_t now, std::int64_t touched) {
  if (now >= touched) {
    return {now, 0};
  }
  if constexpr (Timeline::kMayStepBack) {
    return {now, Minus(touched, now)};
  } else {
    return {touched, 0};
  }
}

}  // namespace sluice::core
