#pragma once

#include <cstddef>
#include <vector>

#include "sluice/decision.h"
#include "sluice/time.h"

namespace sluice::replay {

// The units of the last W, exactly, as far as it matters to a limit: what lies behind as many
// units as the limit changes no answer, so it is forgotten, and there are never more
// entries than the limit. One thread.
class ExactWindow {
 public:
  // Units in (at - window, at]; at least the limit where that much was kept. `at` never goes back.
  [[nodiscard]] Units Used(WallInstant at, Duration window) {
    while (gone_ < entries_.size() && entries_[gone_].at <= at - window) {
      DropOldest();
    }
    return sum_;
  }

  // Requires Used() of the same instant first.
  void Add(WallInstant at, Units units, Units limit) {
    if (units == 0) {
      return;
    }
    if (gone_ < entries_.size() && entries_.back().at == at) {
      entries_.back().units += units;
    } else {
      entries_.push_back({.at = at, .units = units});
    }
    sum_ += units;
    while (gone_ + 1 < entries_.size() && sum_ - entries_[gone_].units >= limit) {
      DropOldest();
    }
    if (gone_ * 2 > entries_.size()) {  // So that each is moved once at most.
      entries_.erase(entries_.begin(), entries_.begin() + static_cast<std::ptrdiff_t>(gone_));
      gone_ = 0;
    }
  }

 private:
  struct Entry {
    WallInstant at;
    Units units;
  };
  void DropOldest() {
    sum_ -= entries_[gone_].units;
    ++gone_;
  }

  std::vector<Entry> entries_;  // From gone_ on.
  std::size_t gone_ = 0;
  Units sum_ = 0;
};

}  // namespace sluice::replay
