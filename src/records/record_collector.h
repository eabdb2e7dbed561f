#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>

#include "base/clock.h"
#include "insight/kept_request.h"
#include "insight/record_queue.h"
#include "records/decision_history.h"
#include "records/decision_log.h"

namespace sluice::records {

// Takes records from the queue to where they are read: the last decisions and the decision log.
//
// Any thread collects, so that who lists the last decisions sees those made until now. Only
// WriteLog() touches the disk, so a slow disk delays nothing but the log.
class RecordCollector {
 public:
  // All outlive it. `log`: nullptr for none.
  RecordCollector(insight::RecordQueue& queue, const base::Clock& clock, DecisionHistory& history,
                  DecisionLog* log)
      : queue_(queue), clock_(clock), history_(history), log_(log) {}

  // Takes what the queue has. Returns how many records.
  std::size_t Collect();
  // Collect(), and the queue begins another interval.
  std::size_t CollectInterval();
  // Writes to the log what was collected for it. One thread.
  void WriteLog();

  [[nodiscard]] const DecisionHistory& history() const { return history_; }
  // Lines that were collected but found no room because the disk is slow.
  [[nodiscard]] std::uint64_t dropped_lines() const;

 private:
  // Of lines that wait for WriteLog().
  static constexpr std::size_t kMostWaiting = std::size_t{8} << 20U;

  std::size_t CollectLocked();
  void Take(std::string_view bytes);

  insight::RecordQueue& queue_;
  const base::Clock& clock_;
  DecisionHistory& history_;
  DecisionLog* const log_;

  mutable std::mutex mutex_;
  insight::KeptRequest request_;  // Room.
  std::string lines_;             // For the log.
  std::uint64_t dropped_lines_ = 0;
};

}  // namespace sluice::records
