#pragma once

#include <cstddef>
#include <cstdint>
#include <variant>
#include <vector>

#include "sluice/decision.h"
#include "sluice/time.h"

#include "core/algorithm_state.h"
#include "core/quota.h"
#include "core/wide.h"

namespace sluice::replay {

// The most units that one key requested in any window of a given length, including denied ones.
//
// A limit below a key's peak denies the key, and a limit at or above it does not: until the first
// denial everything is admitted, so an exact count denies once the window has more than the limit.
//
// Memory is bounded, whatever the traffic: requests within 1/64 of the window are one entry, which
// counts until its latest request has left the window. So the peak is exact if timestamps are
// coarser than that (seconds, for a minute); otherwise it is that of a window up to 1/64 longer.
class PeakWindow {
 public:
  // `at` never decreases; `window` is the same in each call.
  void Add(WallInstant at, Units units, Duration window);

  [[nodiscard]] Units peak() const { return peak_; }
  // The units in the window that ends with the last request.
  [[nodiscard]] Units now() const { return sum_; }
  // Prefetches the memory that Add() will use.
  void Prefetch() const {
    if (gone_ < entries_.size()) {
      __builtin_prefetch(&entries_[gone_]);
      __builtin_prefetch(&entries_.back());
    }
  }

 private:
  struct Entry {
    WallInstant first;
    WallInstant last;
    Units units = 0;
  };
  std::vector<Entry> entries_;  // Valid from gone_ on; oldest first.
  std::uint32_t gone_ = 0;
  Units sum_ = 0;
  Units peak_ = 0;
};

// The count of a fixed window: the units since its beginning.
struct PeriodCount {
  WallInstant begin{};
  Units units = 0;
};
// The count of a bucket: units times window, as in core/bucket.h.
struct BucketLevel {
  core::U128 owed = 0;
  WallInstant touched{};
};

// How much one key requested, in the measure of its rule: the most that the rule's algorithm would
// have counted if it had denied nothing. So a key is above its limit if and only if the rule denied
// it.
//
//   fixed_window            the fullest aligned window, or period of the calendar
//   sliding_window_log      the fullest window of that length, wherever it begins
//   sliding_window(_counter) the same, as the algorithm estimates it
//   buckets                 the highest level, against the burst
//
// Memory per key is bounded, whatever the traffic. One thread.
class Demand {
 public:
  // A request of `cost` at `at`, which never decreases. `quota`: the quota that applied; plans and
  // overrides change its numbers. `denied`: whether the rule denied it.
  void Add(const core::Quota& quota, WallInstant at, Cost cost, bool denied);

  // The highest count so far, and the limit of the request that came closest to its limit or
  // exceeded it the most.
  [[nodiscard]] Units peak() const { return peak_; }
  [[nodiscard]] Units limit() const { return limit_; }

  // The limit for the measure: a bucket's burst, otherwise the limit.
  [[nodiscard]] static Units LimitOf(const core::Quota& quota) {
    return core::IsBucket(quota.algorithm) && quota.rate == 0 ? 0 : quota.limit;
  }

  // Prefetches the memory that Add() will use.
  void Prefetch() const {
    if (const auto* const window = std::get_if<PeakWindow>(&count_)) {
      window->Prefetch();
    }
  }

 private:
  [[nodiscard]] Units CountedAfter(const core::Quota& quota, WallInstant at, Cost cost);

  std::variant<BucketLevel, PeriodCount, PeakWindow, core::AlgorithmState> count_;
  bool denied_ = false;
  Units peak_ = 0;
  Units limit_ = 0;
};

}  // namespace sluice::replay
