#pragma once

#include <concepts>
#include <cstdint>

#include "sluice/decision.h"

namespace sluice::core {

// What one step of an algorithm yields. The store writes on_allow if the whole request is
// charged and on_deny if it is not; on_deny equals the state passed in unless a clock that
// stepped back had to be followed (StoreTimeline only). `decision` has the numbers as they
// are after the charge when it allows, and as they are now when it denies.
template <class State>
struct Outcome {
  Decision decision;
  State on_allow;
  State on_deny;
};

// sliding_window_log, sliding_window and concurrency keep their variable part as a list of
// entries, which the store holds in blocks; the step sees it through this concept.
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

}  // namespace sluice::core
