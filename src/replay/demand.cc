#include "replay/demand.h"

#include <algorithm>
#include <chrono>

#include "core/calendar.h"

namespace sluice::replay {

void PeakWindow::Add(WallInstant at, Units units, Duration window) {
  while (gone_ < entries_.size() && entries_[gone_].last <= at - window) {
    sum_ -= entries_[gone_].units;
    ++gone_;
  }
  if (gone_ == entries_.size()) {
    entries_.clear();
    gone_ = 0;
  } else if (gone_ >
             64) {  // At most as many as can count at the same time: each is moved at most once.
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

namespace {

using core::Quota;
using core::U128;

template <class T, class Variant>
T& As(Variant& variant) {
  if (!std::holds_alternative<T>(variant)) {
    variant.template emplace<T>();
  }
  return std::get<T>(variant);
}

WallInstant BeginOfWindow(const Quota& quota, WallInstant at) {
  if (quota.calendar != nullptr) {
    return quota.calendar->At(at).begin;
  }
  const std::int64_t window = quota.window.count();
  return WallInstant(Duration(at.time_since_epoch().count() / window * window));
}

// Whether a of b is a larger share than c of d. With a limit of 0, the share is the largest.
bool IsMore(Units a, Units b, Units c, Units d) {
  return static_cast<U128>(a) * static_cast<U128>(d) > static_cast<U128>(c) * static_cast<U128>(b);
}

}  // namespace

Units Demand::CountedAfter(const Quota& quota, WallInstant at, Cost cost) {
  const core::AlgorithmTraits& traits = core::TraitsOf(quota.algorithm);
  switch (traits.refill) {
    case core::Refill::kAtWindowEnd: {
      auto& period = As<PeriodCount>(count_);
      const WallInstant begin = BeginOfWindow(quota, at);
      period.units = begin == period.begin ? period.units : 0;
      period.begin = begin;
      return period.units = std::min(period.units + cost.units, kMaxUnits);
    }
    case core::Refill::kSliding: {
      if (!traits.is_exact) {
        return As<core::AlgorithmState>(count_).Count(quota, at, cost);
      }
      auto& window = As<PeakWindow>(count_);
      window.Add(at, cost.units, quota.window);
      return window.now();
    }
    case core::Refill::kAtRate: {
      auto& level = As<BucketLevel>(count_);
      const auto window = static_cast<std::uint64_t>(quota.window.count());
      const U128 drained = core::Multiply(static_cast<std::uint64_t>(quota.rate),
                                          static_cast<std::uint64_t>((at - level.touched).count()));
      level.owed -= std::min(level.owed, drained);
      level.owed += core::Multiply(static_cast<std::uint64_t>(cost.units), window);
      level.owed = std::min(level.owed, core::Multiply(kMaxUnits, window));
      level.touched = at;
      return static_cast<Units>((level.owed + window - 1) / window);
    }
    case core::Refill::kOnRelease:
      break;
  }
  return 0;
}

void Demand::Add(const Quota& quota, WallInstant at, Cost cost, bool denied) {
  denied_ = denied_ || denied;
  const Units limit = LimitOf(quota);
  Units counted = CountedAfter(quota, at, cost);
  if (!denied_ && limit != 0) {
    // Only a log's count can be above the rule's: its window is up to 1/64 longer.
    counted = std::min(counted, limit);
  }
  if (IsMore(counted, limit, peak_, limit_) || (peak_ == 0 && limit_ == 0)) {
    peak_ = counted;
    limit_ = limit;
  }
}

}  // namespace sluice::replay
