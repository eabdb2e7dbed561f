#include "replay/peak_window.h"

#include <algorithm>

namespace sluice::replay {

void PeakWindow::Add(WallInstant at, Units units, Duration window) {
  while (gone_ < entries_.size() && entries_[gone_].last <= at - window) {
    sum_ -= entries_[gone_].units;
    ++gone_;
  }
  if (gone_ == entries_.size()) {
    entries_.clear();
    gone_ = 0;
  } else if (gone_ > 64) {  // As many as can count at once: moved at most once each.
    entries_.erase(entries_.begin(), entries_.begin() + gone_);
    gone_ = 0;
  }
  if (!entries_.empty() &&
      (at == entries_.back().last || at - entries_.back().first < window / 64)) {
    entries_.back().last = at;
    entries_.back().units += units;
  } else {
    entries_.push_back({.first = at, .last = at, .units = units});
  }
  sum_ += units;
  peak_ = std::max(peak_, sum_);
}

}  // namespace sluice::replay
