#pragma once

#include "base/assert.h"
#include "core/attempt_window.h"
#include "core/bucket.h"
#include "core/concurrency.h"
#include "core/fixed_window.h"
#include "core/sliding_window.h"
#include "core/sliding_window_counter.h"
#include "core/sliding_window_log.h"
#include "core/throttle.h"

// From an algorithm to the class with its steps, which is the code's one switch over algorithms.
//
// Such a class has
//   kTraits                           its row of kAlgorithms, one of them if several share it;
//   State                             what a key keeps: all zero is a fresh key;
//   Check, Peek, Refund, Expiry       pure and static: see bucket.h. With entries they also take an
//                                     EntryList (judging.h). With holds, which their store keeps,
//                                     Check and Peek take the units kept for others, and there is
//                                     no refund: see concurrency.h.
//   State::Describe(reader)           without items: gives each number of the state to the reader
//                                     under the name that dumps have for it.
namespace sluice::core {

// Calls f.template operator()<Steps>() with the steps of `algorithm` on that clock; those of
// concurrency are on the table's alone.
template <class Clock = TableClock, class F>
[[gnu::always_inline]] constexpr decltype(auto) VisitSteps(Algorithm algorithm, F&& f) {
  switch (algorithm) {
    case Algorithm::kFixedWindow:
      return f.template operator()<FixedWindow<Clock>>();
    case Algorithm::kSlidingWindowLog:
      return f.template operator()<SlidingWindowLog<Clock>>();
    case Algorithm::kSlidingWindowCounter:
      return f.template operator()<SlidingWindowCounter<Clock>>();
    case Algorithm::kSlidingWindow:
      return f.template operator()<SlidingWindow<Clock>>();
    case Algorithm::kTokenBucket:
    case Algorithm::kGcra:
    case Algorithm::kLeakyBucket:
      return f.template operator()<Bucket<Clock>>();
    case Algorithm::kConcurrency:
      return f.template operator()<Concurrency>();
    case Algorithm::kThrottle:
      return f.template operator()<Throttle<Clock>>();
    case Algorithm::kAttemptWindow:
      return f.template operator()<AttemptWindow<Clock>>();
  }
  SLUICE_ASSERT(false);
  __builtin_unreachable();
}

// The table and the classes say the same. A state of 24 bytes leaves room for a list's ends.
template <class Steps>
constexpr bool AgreesWith(const AlgorithmTraits& traits) {
  return Steps::kTraits.steps == traits.steps && Steps::kTraits.refill == traits.refill &&
         Steps::kTraits.items == traits.items &&
         Steps::kTraits.charges_denials == traits.charges_denials &&
         sizeof(typename Steps::State) == (traits.has_items() ? 24 : 32);
}
static_assert(std::ranges::all_of(kAlgorithms, [](const AlgorithmTraits& traits) {
  return VisitSteps(traits.algorithm,
                    [&traits]<class Steps>() { return AgreesWith<Steps>(traits); });
}));

}  // namespace sluice::core
