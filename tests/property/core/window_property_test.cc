#include <gtest/gtest.h>

#include "core/fixed_window.h"
#include "core/sliding_window.h"
#include "core/sliding_window_counter.h"
#include "core/sliding_window_log.h"
#include "property/core/history.h"
#include "unit/core/steps.h"

// The window family against a plain log: every oracle here keeps each admission with its
// time, and recomputes what its formula says from them.
namespace sluice::core {
namespace {

struct Admission {
  std::int64_t at = 0;
  Units units = 0;
};

// Takes `units` off the newest of those that `counts` accepts.
template <class F>
void TakeBack(std::vector<Admission>& log, Units units, F counts) {
  for (auto it = log.rbegin(); it != log.rend() && units > 0; ++it) {
    if (counts(*it)) {
      const Units take = std::min(units, it->units);
      it->units -= take;
      units -= take;
    }
  }
}

class LogOracle {
 public:
  std::optional<Units> Remaining(const Quota& quota, const TableNow& now) const {
    return quota.limit - Used(quota, now);
  }

  bool Fresh(const Quota& quota, const TableNow& now) const { return Used(quota, now) == 0; }

  void Charge(const Quota& quota, const TableNow& now, Units units) {
    std::erase_if(log_, [&](const Admission& a) { return !Counts(quota, now, a); });
    log_.push_back({At(now), units});
  }

  void Refund(const Quota& quota, const TableNow& now, Units units) {
    TakeBack(log_, units, [&](const Admission& a) { return Counts(quota, now, a); });
  }

 private:
  static bool Counts(const Quota& quota, const TableNow& now, const Admission& a) {
    return a.at > At(now) - quota.window.count();
  }

  Units Used(const Quota& quota, const TableNow& now) const {
    Units used = 0;
    for (const Admission& a : log_) {
      used += Counts(quota, now, a) ? a.units : 0;
    }
    return used;
  }

  std::vector<Admission> log_;
};

// sliding_window's formula; with one segment that of the counter. `Outlived` tells them apart
// in nothing else: a segment counts for S more after its own.
class SegmentOracle {
 public:
  std::optional<Units> Remaining(const Quota& quota, const TableNow& now) const {
    const I128 window = quota.window.count();
    const I128 place = (I128{At(now)} - origin_) * Segments(quota);
    const I128 oldest = place / window - Segments(quota);
    I128 whole = 0;
    I128 partly = 0;
    for (const Admission& a : log_) {
      const I128 segment = SegmentOf(quota, a.at);
      (segment == oldest ? partly : whole) += segment >= oldest ? a.units : 0;
    }
    const I128 covered = quota.strict ? window : window - place % window;
    return static_cast<Units>(quota.limit - whole - partly * covered / window);
  }

  bool Fresh(const Quota& quota, const TableNow& now) const {
    for (const Admission& a : log_) {
      if (a.units > 0 && Counts(quota, now, a)) {
        return false;
      }
    }
    return true;
  }

  void Charge(const Quota& quota, const TableNow& now, Units units) {
    if (Fresh(quota, now)) {
      log_.clear();
      std::int64_t past = now.wall_clock.time_since_epoch().count() % quota.window.count();
      past += past < 0 ? quota.window.count() : 0;
      origin_ = At(now) - past;
    }
    std::erase_if(log_, [&](const Admission& a) { return !Counts(quota, now, a); });
    log_.push_back({At(now), units});
  }

  void Refund(const Quota& quota, const TableNow& now, Units units) {
    TakeBack(log_, units, [&](const Admission& a) { return Counts(quota, now, a); });
  }

 private:
  static int Segments(const Quota& quota) {
    return quota.algorithm == Algorithm::kSlidingWindowCounter ? 1 : quota.segments;
  }

  I128 SegmentOf(const Quota& quota, std::int64_t at) const {
    return (I128{at} - origin_) * Segments(quota) / quota.window.count();
  }

  bool Counts(const Quota& quota, const TableNow& now, const Admission& a) const {
    return SegmentOf(quota, a.at) >= SegmentOf(quota, At(now)) - Segments(quota);
  }

  std::vector<Admission> log_;
  std::int64_t origin_ = 0;
};

// Admissions since the window began; it ends where either clock says so first.
class FixedOracle {
 public:
  std::optional<Units> Remaining(const Quota& quota, const TableNow& now) const {
    return quota.limit - Used(now);
  }

  bool Fresh(const Quota&, const TableNow& now) const { return Used(now) == 0; }

  void Charge(const Quota& quota, const TableNow& now, Units units) {
    if (Used(now) == 0) {
      log_.clear();
      const std::int64_t wall_clock = now.wall_clock.time_since_epoch().count();
      const std::int64_t window = quota.window.count();
      std::int64_t left = window;
      if (wall_clock % window != 0) {
        left = wall_clock > 0 ? window - wall_clock % window : -(wall_clock % window);
      }
      end_wall_clock_ = wall_clock + left;
      end_monotonic_ = At(now) + left;
    }
    log_.push_back({At(now), units});
  }

  void Refund(const Quota&, const TableNow& now, Units units) {
    if (Used(now) > 0) {
      TakeBack(log_, units, [](const Admission&) { return true; });
    }
  }

 private:
  Units Used(const TableNow& now) const {
    Units used = 0;
    if (At(now) < end_monotonic_ && now.wall_clock.time_since_epoch().count() < end_wall_clock_) {
      for (const Admission& a : log_) {
        used += a.units;
      }
    }
    return used;
  }

  std::vector<Admission> log_;
  std::int64_t end_wall_clock_ = 0;
  std::int64_t end_monotonic_ = 0;
};

template <class Driver, class Oracle, class F>
void Play(Algorithm algorithm, F bounds) {
  for (std::uint64_t seed = 0; seed < kHistories * support::SoakFactor(); ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const Quota quota = DrawQuota(random, algorithm);
    Duel<Driver, Oracle> duel(random, quota, seed % 2 == 1);
    ASSERT_NO_FATAL_FAILURE(duel.Run(bounds(quota)));
  }
}

TEST(FixedWindowProperty, AgreesWithAPlainLog) {
  Play<SteppedKey<FixedWindow<TableClock>>, FixedOracle>(
      Algorithm::kFixedWindow, [](const Quota& quota) {
        return std::vector<Bound>{{quota.window.count(), 2 * quota.limit}};
      });
}

TEST(SlidingWindowLogProperty, AgreesWithAPlainLog) {
  Play<ListKey<SlidingWindowLog<TableClock>>, LogOracle>(
      Algorithm::kSlidingWindowLog,
      [](const Quota& quota) { return std::vector<Bound>{{quota.window.count(), quota.limit}}; });
}

TEST(SlidingWindowCounterProperty, AgreesWithItsFormulaOverAPlainLog) {
  Play<SteppedKey<SlidingWindowCounter<TableClock>>, SegmentOracle>(
      Algorithm::kSlidingWindowCounter, [](const Quota& quota) {
        return std::vector<Bound>{{quota.window.count(), 2 * quota.limit}};
      });
}

TEST(SlidingWindowProperty, AgreesWithItsFormulaOverAPlainLog) {
  Play<ListKey<SlidingWindow<TableClock>>, SegmentOracle>(
      Algorithm::kSlidingWindow, [](const Quota& quota) {
        if (quota.strict) {
          return std::vector<Bound>{{quota.window.count(), quota.limit}};
        }
        const std::int64_t part = quota.window.count() / quota.segments * (quota.segments - 1);
        return std::vector<Bound>{{quota.window.count(), 2 * quota.limit}, {part, quota.limit}};
      });
}

}  // namespace
}  // namespace sluice::core
