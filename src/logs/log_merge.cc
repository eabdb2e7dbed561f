#include "logs/log_merge.h"

#include <algorithm>
#include <utility>

#include "base/fault.h"

namespace sluice::logs {

Result<LogMerge> LogMerge::Open(const std::vector<std::string>& paths, const LogOptions& options,
                                const AttributePlan& plan) {
  LogMerge merge;
  if (paths.size() > kMostLogs) {
    return Fault(
        "more than 500 logs at once: join some of them, with `zcat -f LOG... | sluice ... --sort "
        "-`");
  }
  for (const std::string& path : paths) {
    if (path == "-" && std::ranges::count(paths, path) > 1) {
      return Fault("standard input can be read only once");
    }
    auto stream = LogStream::Open(path, options, plan);
    if (!stream) {
      return tl::unexpected(std::move(stream.error()));
    }
    merge.streams_.push_back(std::move(*stream));
  }
  return merge;
}

LogStream* LogMerge::Next() {
  LogStream* next = nullptr;
  WallInstant earliest{};
  for (const auto& stream : streams_) {
    if (const LogStream::Request* request = stream->Peek();
        request != nullptr && (next == nullptr || request->at < earliest)) {
      next = stream.get();
      earliest = request->at;
    }
  }
  return next;
}

std::optional<Error> LogMerge::Failure() const {
  for (const auto& stream : streams_) {
    if (stream->failure()) {
      return stream->failure();
    }
  }
  return std::nullopt;
}

double LogMerge::Progress() const {
  std::uint64_t read = 0;
  std::uint64_t size = 0;
  for (const auto& stream : streams_) {
    if (stream->source().size() == 0) {
      return -1;
    }
    read += stream->source().position();
    size += stream->source().size();
  }
  return size == 0 ? -1 : static_cast<double>(read) / static_cast<double>(size);
}

std::uint64_t LogMerge::LinesRead() const {
  std::uint64_t lines = 0;
  for (const auto& stream : streams_) {
    lines += stream->lines_read();
  }
  return lines;
}

}  // namespace sluice::logs
