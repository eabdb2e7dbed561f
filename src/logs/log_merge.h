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

// Merges several logs by time: those of several servers, or a log and its rotated files, in any
// order. One thread.
class LogMerge {
 public:
  static constexpr std::size_t kMostLogs = 500;  // All are open at the same time.

  // Errors: those of LogStream::Open() for any of them; too many logs.
  [[nodiscard]] static Result<LogMerge> Open(const std::vector<std::string>& paths,
                                             const LogOptions& options, const AttributePlan& plan);

  // The stream with the next request; nullptr at the end. For equal times, in the order of `paths`.
  [[nodiscard]] LogStream* Next();

  [[nodiscard]] const std::vector<std::unique_ptr<LogStream>>& streams() const { return streams_; }
  // After the end: why some requests that were read are missing.
  [[nodiscard]] std::optional<Error> Failure() const;
  // The share of all bytes that has been read, from 0 to 1; less than 0 if the size is unknown.
  [[nodiscard]] double Progress() const;
  [[nodiscard]] std::uint64_t LinesRead() const;

 private:
  std::vector<std::unique_ptr<LogStream>> streams_;
};

}  // namespace sluice::logs
