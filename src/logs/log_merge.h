#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sluice/result.h"

#include "logs/attribute_plan.h"
#include "logs/log_stream.h"

namespace sluice::logs {

// Several logs as one, in order of time: those of several servers, or one log and its rotated
// forebears in any order. One thread.
class LogMerge {
 public:
  static constexpr std::size_t kMostLogs = 500;  // All are open at once.

  // Errors: those of LogStream::Open(), of any of them; too many.
  [[nodiscard]] static Result<LogMerge> Open(const std::vector<std::string>& paths,
                                             const LogOptions& options, const AttributePlan& plan);

  // The stream whose request is next, which has one; nullptr at the end. Of one time the streams
  // come in the order given.
  [[nodiscard]] LogStream* Next();

  [[nodiscard]] const std::vector<std::unique_ptr<LogStream>>& streams() const { return streams_; }
  // Why requests are missing that were read; after the end.
  [[nodiscard]] std::optional<Error> Failure() const;
  // Read so far, of all together: the part of the bytes, from 0 to 1, less than 0 where nobody
  // knows how much there is.
  [[nodiscard]] double Progress() const;
  [[nodiscard]] std::uint64_t LinesRead() const;

 private:
  std::vector<std::unique_ptr<LogStream>> streams_;
};

}  // namespace sluice::logs
