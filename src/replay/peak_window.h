#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sluice/decision.h"
#include "sluice/time.h"

namespace sluice::replay {

// The most units that one key asked for in any window of a given length, denied ones included.
//
// A key whose peak is P is touched by a limit below P and by none from P on: until the first
// denial all is admitted, so whoever counts exactly denies once the window holds more than
// the limit.
//
// Memory is bounded whatever the traffic: stamps within a 64th of the window of each other are
// one entry, which counts until its latest has left. So the peak is exact where stamps are
// coarser than that (seconds, for a minute), and else that of a window up to 1/64 longer.
class PeakWindow {
 public:
  // `at` never goes back; `window` is the same each time.
  void Add(WallInstant at, Units units, Duration window);

  [[nodiscard]] Units peak() const { return peak_; }
  // The units in the window that ends with the last request.
  [[nodiscard]] Units now() const { return sum_; }
  // Asks for the memory that Add() is about to use.
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
  std::vector<Entry> entries_;  // From gone_ on they count; oldest first.
  std::uint32_t gone_ = 0;
  Units sum_ = 0;
  Units peak_ = 0;
};

}  // namespace sluice::replay
