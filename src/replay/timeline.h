#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "sluice/time.h"

namespace sluice::replay {

// How many were allowed and denied when, over a span that nobody knows beforehand: steps of
// one second at first, and of longer and longer ones as the span grows, so that there are
// never more than kMostSteps. Steps begin at multiples of their length since 1970.
class Timeline {
 public:
  static constexpr std::size_t kMostSteps = 400;

  struct Step {
    std::uint64_t allowed = 0;
    std::uint64_t denied = 0;
  };

  // `at` never goes back by more than what has been seen.
  void Add(WallInstant at, bool allowed);

  [[nodiscard]] std::chrono::seconds step() const;
  [[nodiscard]] WallInstant begin() const;
  [[nodiscard]] const std::vector<Step>& steps() const { return steps_; }
  // The same in at most `columns` steps, of equal length but perhaps the last.
  [[nodiscard]] std::vector<Step> In(std::size_t columns) const;

 private:
  void Coarsen();

  std::size_t level_ = 0;   // Of the lengths that steps may have.
  std::int64_t first_ = 0;  // Number of the first step since 1970.
  std::vector<Step> steps_;
};

}  // namespace sluice::replay
