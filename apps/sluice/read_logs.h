#pragma once

#include <chrono>
#include <functional>

#include "sluice/result.h"

#include "log_options.h"
#include "logs/attribute_plan.h"
#include "logs/log_merge.h"
#include "logs/log_stream.h"

namespace sluice::app {

// Opens the logs and calls `read` to read them to their end. If some files are so much out of order
// that the result is wrong, opens all logs again, with those files sorted, and calls `read` again,
// from the start.
//
// `final`: `read` has effects that cannot be repeated, such as printing, so the order of files is
// checked first. Errors: those of opening and of `read`; standard input or a pipe is out of order
// and can be read only once.
[[nodiscard]] Result<void> ReadInOrder(const LogArguments& arguments, logs::LogOptions options,
                                       const logs::AttributePlan& plan, bool final,
                                       const std::function<Result<void>(logs::LogMerge&)>& read);

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
