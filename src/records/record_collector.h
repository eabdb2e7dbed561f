#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <utility>

#include "base/clock.h"
#include "insight/kept_request.h"
#include "insight/record_queue.h"
#include "records/decision_history.h"
#include "records/decision_log.h"

namespace sluice::records {

// Takes records from the queue to where they are read: the last decisions, the decision log, and
// the trace, which shows requests whole as they are decided.
//
// Any thread collects, so that who lists the last decisions sees those made until now. Only
// WriteLog() touches the disk, so a slow disk delays nothing but the log.
class RecordCollector {
 public:
  using OnTrace = std::function<void(const insight::KeptRequest& request)>;

  // All outlive it. `log`: nullptr for none. `on_trace` is called by the thread that collects.
  RecordCollector(insight::RecordQueue& queue, const base::Clock& clock, DecisionHistory& history,
                  DecisionLog* log, OnTrace on_trace)
      : queue_(queue),
        clock_(clock),
        history_(history),
        log_(log),
        on_trace_(std::move(on_trace)) {}

  // Takes what the queue has. Returns how many records.
  std::size_t Collect();
  // Collect(), and the queue begins another interval.
  std::size_t CollectInterval();
  struct Trace {
    std::uint32_t per_second = 0;     // 0: it is off.
    Duration left = Duration::max();  // Until it turns itself off; max(): never.
  };
  // Shows so many requests a second, for so long, in place of what was asked for before. A
  // `per_second` of 0 turns it off.
  void SetTrace(const Trace& trace);
  [[nodiscard]] Trace trace() const;

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
  void UpdateTrace();

  insight::RecordQueue& queue_;
  const base::Clock& clock_;
  DecisionHistory& history_;
  DecisionLog* const log_;
  const OnTrace on_trace_;

  mutable std::mutex mutex_;
  insight::KeptRequest request_;  // Room.
  std::string lines_;             // For the log.
  std::uint64_t dropped_lines_ = 0;
  std::uint32_t traces_per_second_ = 0;
  Duration trace_end_{};       // On the monotonic clock; max(): never.
  Duration trace_credited_{};  // Until when credit was given.
  double trace_credit_ = 0;    // Requests that may be shown now: at most those of a second.
};

}  // namespace sluice::records
