#include "records/record_collector.h"

#include <algorithm>
#include <chrono>

#include "records/decision_json.h"

namespace sluice::records {

std::size_t RecordCollector::Collect() {
  const std::lock_guard lock(mutex_);
  return CollectLocked();
}

std::size_t RecordCollector::CollectInterval() {
  const std::lock_guard lock(mutex_);
  const std::size_t count = CollectLocked();
  queue_.Refill();
  UpdateTrace();
  return count;
}

std::size_t RecordCollector::CollectLocked() {
  std::size_t count = 0;
  queue_.Collect([&](std::string_view bytes) {
    ++count;
    Take(bytes);
  });
  return count;
}

void RecordCollector::Take(std::string_view bytes) {
  insight::DecodeRequest(bytes, request_);
  if (request_.at == WallInstant{}) {
    request_.at = clock_.Read().wall_clock;  // No store was asked.
  }
  if ((request_.uses & insight::kForHistory) != 0) {
    history_.Add(bytes, request_);
  }
  if ((request_.uses & insight::kForTrace) != 0) {
    trace_credit_ -= 1;
    on_trace_(request_);
  }
  if ((request_.uses & insight::kForLog) == 0 || log_ == nullptr) {
    return;
  }
  if (lines_.size() > kMostWaiting) {
    ++dropped_lines_;
    return;
  }
  AppendDecision(request_, lines_);
  lines_ += '\n';
}

void RecordCollector::SetTrace(const Trace& trace) {
  const std::lock_guard lock(mutex_);
  const Duration now = clock_.Read().boot;
  traces_per_second_ = trace.per_second;
  trace_end_ = trace.left >= Duration::max() - now ? Duration::max() : now + trace.left;
  trace_credited_ = now;
  trace_credit_ = trace.per_second;
  UpdateTrace();
}

RecordCollector::Trace RecordCollector::trace() const {
  const std::lock_guard lock(mutex_);
  const Duration now = clock_.Read().boot;
  if (traces_per_second_ == 0 || now >= trace_end_) {
    return {};
  }
  return {.per_second = traces_per_second_,
          .left = trace_end_ == Duration::max() ? trace_end_ : trace_end_ - now};
}

void RecordCollector::UpdateTrace() {
  const Duration now = clock_.Read().boot;
  if (now >= trace_end_) {
    traces_per_second_ = 0;
  }
  const double most = traces_per_second_;
  const double passed = std::chrono::duration<double>(now - trace_credited_).count();
  trace_credit_ = std::min(most, trace_credit_ + most * passed);
  trace_credited_ = now;
  queue_.AllowTraces(static_cast<std::int32_t>(std::max(trace_credit_, 0.0)));
}

void RecordCollector::WriteLog() {
  if (log_ == nullptr) {
    return;
  }
  std::string lines;
  {
    const std::lock_guard lock(mutex_);
    lines.swap(lines_);
  }
  if (!lines.empty()) {
    log_->Write(lines);
  }
}

std::uint64_t RecordCollector::dropped_lines() const {
  const std::lock_guard lock(mutex_);
  return dropped_lines_;
}

}  // namespace sluice::records
