#include "records/record_collector.h"

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
