#pragma once

#include <chrono>

#include "logs/log_merge.h"

namespace sluice::app {

// A line on standard error that shows how far logs have been read, redrawn some times a second.
// Prints nothing if standard error is not a terminal.
class ProgressBar {
 public:
  explicit ProgressBar(const logs::LogMerge& logs);
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;
  ~ProgressBar();  // Erases the line.

  void Show();

 private:
  using SteadyClock = std::chrono::steady_clock;

  const logs::LogMerge& logs_;
  const bool on_terminal_;
  const SteadyClock::time_point began_;
  SteadyClock::time_point drawn_;
  bool on_screen_ = false;
};

}  // namespace sluice::app
