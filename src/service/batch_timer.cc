#include "service/batch_timer.h"

namespace sluice::service {

namespace {

// The innermost turn of this thread, and how many it has had.
thread_local BatchTimer* current = nullptr;
thread_local std::uint64_t turns = 0;

}  // namespace

BatchTimer::BatchTimer(ServiceMetrics& metrics)
    : metrics_(metrics), outer_(current), number_(++turns) {
  current = this;
  if (metrics_.times_decisions()) {
    started_ = std::chrono::steady_clock::now();
  }
}

BatchTimer::~BatchTimer() {
  current = outer_;
  if (answered_ != 0 && metrics_.times_decisions()) {
    metrics_.RecordDecide(std::chrono::steady_clock::now() - started_, answered_);
  }
}

void BatchTimer::Answered(ServiceMetrics& metrics, std::uint64_t number,
                          std::chrono::steady_clock::time_point started) {
  if (current != nullptr && current->number_ == number) {
    ++current->answered_;
  } else if (metrics.times_decisions()) {
    metrics.RecordDecide(std::chrono::steady_clock::now() - started, 1);
  }
}

}  // namespace sluice::service
