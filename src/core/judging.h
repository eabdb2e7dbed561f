#pragma once

#include <concepts>
#include <cstdint>

#include "sluice/decision.h"
#include "sluice/time.h"

#include "core/quota.h"
#include "core/wide.h"

// What all algorithms' steps share, so that limit 0, cost 0, `unlimited` and clocks that
// step back mean the same in each.
namespace sluice::core {

// What one step of an algorithm yields. The store writes on_allow if the whole request is
// charged and on_deny if it is not; on_deny equals the state passed in unless a clock that
// stepped back had to be followed (StoreClock only). `decision` has the numbers as they
// are after the charge when it allows, and as they are now when it denies.
template <class State>
struct Outcome {
  Decision decision;
  State on_allow;
  State on_deny;
};

// Algorithms with entries keep their variable part as a list, which the store holds in blocks; the
// step sees it through this concept.
//
// `at` is the algorithm's own number: see the algorithm. Oldest first.
struct Entry {
  std::int64_t at = 0;
  Units units = 0;
};

// e.ForEach(f): calls f(Entry) -> bool from the oldest on, until f returns false.
// e.ForEachNewestFirst(f): the same from the newest back.
template <class E>
concept EntryList = requires(const E& e) {
  e.ForEach([](Entry) { return true; });
  e.ForEachNewestFirst([](Entry) { return true; });
};

// What a step does to its entries when the request is charged: first the oldest `drop` go,
// then `append.units` at `append.at` are added (merged into the newest entry if that has
// the same `at`). A zero `append.units` adds nothing.
template <class State>
struct ListOutcome {
  Decision decision;
  State on_allow;
  State on_deny;
  std::uint32_t drop = 0;
  Entry append{};
};

// What a refund does to them: the oldest `drop` go, then `take` units off the newest.
template <class State>
struct ListRefund {
  State state;
  std::uint32_t drop = 0;
  Units take = 0;
};

// A check and a peek are judged in the same way; they differ in what is reported and kept.
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
// there; the table's monotonic clock never steps, so that at most two threads' readings crossed,
// and the later one counts.
template <class Clock>
[[nodiscard]] constexpr TimeReading ReadTime(std::int64_t now, std::int64_t touched) {
  if (now >= touched) {
    return {now, 0};
  }
  if constexpr (Clock::kMayStepBack) {
    return {now, Minus(touched, now)};
  } else {
    return {touched, 0};
  }
}

}  // namespace sluice::core
