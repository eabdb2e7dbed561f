#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "sluice/time.h"

namespace sluice::replay {

// Counts of allowed and denied requests over time, for a span of unknown length. Steps are one
// second at first and become longer as the span grows, so there are never more than kMostSteps.
// Steps begin at multiples of their length since 1970.
class Timeline {
 public:
  static constexpr std::size_t kMostSteps = 400;

  struct Step {
    std::uint64_t allowed = 0;
    std::uint64_t denied = 0;
  };

  // `at` is never earlier than the first one.
  void Add(WallInstant at, bool allowed);

  [[nodiscard]] std::chrono::seconds step() const;
  [[nodiscard]] WallInstant begin() const;
  [[nodiscard]] const std::vector<Step>& steps() const { return steps_; }
  // The same in at most `columns` steps, of equal length except possibly the last.
  [[nodiscard]] std::vector<Step> In(std::size_t columns) const;

 private:
  void Coarsen();

  std::size_t level_ = 0;   // Index in the list of step lengths.
  std::int64_t first_ = 0;  // Number of the first step since 1970.
  std::vector<Step> steps_;
};

}  // namespace sluice::replay
