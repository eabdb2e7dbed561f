#pragma once

#include <cstdint>
#include <variant>

#include "sluice/decision.h"
#include "sluice/time.h"

#include "core/quota.h"
#include "core/wide.h"
#include "replay/algorithm_state.h"
#include "replay/peak_window.h"

namespace sluice::replay {

// What counts for a fixed window: the units since it began.
struct PeriodCount {
  WallInstant begin{};
  Units units = 0;
};
// What counts for a bucket: units times window, as in core/bucket.h.
struct BucketLevel {
  core::U128 owed = 0;
  WallInstant touched{};
};

// How much one key asked for, in the measure by which its rule judges: the most that the rule's
// algorithm would have counted at once if it had denied nothing. So a key is beyond its limit if
// and only if the rule denied it.
//
//   fixed_window            the fullest aligned window, or period of the calendar
//   sliding_window_log      the fullest window of that length, wherever it begins
//   sliding_window(_counter) the same, as the algorithm estimates it
//   buckets                 the highest level, against the burst
//
// Memory: bounded for each key whatever the traffic. One thread.
class Demand {
 public:
  // A request of `cost` at `at`, which never goes back. `quota`: what it was judged by; plans and
  // overrides change its numbers. `denied`: whether the rule denied it.
  void Add(const core::Quota& quota, WallInstant at, Cost cost, bool denied);

  // The most so far, and the limit of the request that came closest to its own limit, or exceeded
  // it by most.
  [[nodiscard]] Units peak() const { return peak_; }
  [[nodiscard]] Units limit() const { return limit_; }

  // The limit that the measure is held against: a bucket's burst, the limit of all others.
  [[nodiscard]] static Units LimitOf(const core::Quota& quota) {
    return core::IsBucket(quota.algorithm) && quota.rate == 0 ? 0 : quota.limit;
  }

  // Asks for the memory that Add() is about to use.
  void Prefetch() const {
    if (const auto* const window = std::get_if<PeakWindow>(&count_)) {
      window->Prefetch();
    }
  }

 private:
  [[nodiscard]] Units CountedAfter(const core::Quota& quota, WallInstant at, Cost cost);

  std::variant<BucketLevel, PeriodCount, PeakWindow, AlgorithmState> count_;
  bool denied_ = false;
  Units peak_ = 0;
  Units limit_ = 0;
};

}  // namespace sluice::replay
