#pragma once

#include <chrono>
#include <cstdint>

#include "service/service_metrics.h"

namespace sluice::service {

// One Decide() of this thread, measured as a whole: a clock reading costs as much as a
// decision, so there is one before and one after the batch, and what was answered within
// it is recorded with the time of all of it. What a store answers later reads the clock for
// itself. Turns nest when a verdict makes its receiver ask again.
class BatchTimer {
 public:
  explicit BatchTimer(ServiceMetrics& metrics);
  BatchTimer(const BatchTimer&) = delete;
  BatchTimer& operator=(const BatchTimer&) = delete;
  ~BatchTimer();

  [[nodiscard]] std::uint64_t number() const { return number_; }
  [[nodiscard]] std::chrono::steady_clock::time_point started() const { return started_; }

  // A verdict of turn `number`, begun at `started`, is there: on the thread of that turn.
  static void Answered(ServiceMetrics& metrics, std::uint64_t number,
                       std::chrono::steady_clock::time_point started);

 private:
  ServiceMetrics& metrics_;
  BatchTimer* outer_;
  std::uint64_t number_;
  std::uint64_t answered_ = 0;
  std::chrono::steady_clock::time_point started_;
};

}  // namespace sluice::service
