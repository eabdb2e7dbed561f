#include "replay/timeline.h"

#include <algorithm>
#include <array>
#include <utility>

namespace sluice::replay {

namespace {

// Each divides the next, so that steps can be merged. The last one covers 153 years.
constexpr std::array<std::int64_t, 15> kSeconds{1,      5,       15,        60,        300,
                                                900,    3'600,   10'800,    21'600,    43'200,
                                                86'400, 604'800, 2'419'200, 4'838'400, 14'515'200};

}  // namespace

void Timeline::Add(WallInstant at, bool allowed) {
  const std::int64_t second =
      std::chrono::floor<std::chrono::seconds>(at.time_since_epoch()).count();
  if (steps_.empty()) {
    first_ = second / kSeconds[level_];
  }
  std::int64_t number = std::max(second / kSeconds[level_], first_);
  while (number - first_ >= static_cast<std::int64_t>(kMostSteps) && level_ + 1 < kSeconds.size()) {
    Coarsen();
    number = second / kSeconds[level_];
  }
  const auto index = static_cast<std::size_t>(number - first_);
  if (index >= steps_.size()) {
    steps_.resize(index + 1);
  }
  ++(allowed ? steps_[index].allowed : steps_[index].denied);
}

void Timeline::Coarsen() {
  const std::int64_t ratio = kSeconds[level_ + 1] / kSeconds[level_];
  const std::int64_t first = first_ / ratio;
  std::vector<Step> merged;
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    const auto to =
        static_cast<std::size_t>(((first_ + static_cast<std::int64_t>(i)) / ratio) - first);
    merged.resize(std::max(merged.size(), to + 1));
    merged[to].allowed += steps_[i].allowed;
    merged[to].denied += steps_[i].denied;
  }
  steps_ = std::move(merged);
  first_ = first;
  ++level_;
}

std::chrono::seconds Timeline::step() const {
  return std::chrono::seconds(kSeconds[level_]);
}

WallInstant Timeline::begin() const {
  return WallInstant(std::chrono::seconds(first_ * kSeconds[level_]));
}

std::vector<Timeline::Step> Timeline::In(std::size_t columns) const {
  const std::size_t each = (steps_.size() + columns - 1) / columns;
  std::vector<Step> merged;
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    if (i % each == 0) {
      merged.emplace_back();
    }
    merged.back().allowed += steps_[i].allowed;
    merged.back().denied += steps_[i].denied;
  }
  return merged;
}

}  // namespace sluice::replay
