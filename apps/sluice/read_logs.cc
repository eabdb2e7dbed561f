#include "read_logs.h"

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <unistd.h>

#include "base/fault.h"
#include "replay/human_text.h"

namespace sluice::app {

namespace {

// Adds the files that must be sorted to `options`. Error: an input that cannot be read again must
// be sorted.
Result<bool> SortWhatIsDisordered(const logs::LogMerge& logs, const std::vector<std::string>& paths,
                                  logs::LogOptions& options) {
  bool any = false;
  bool all_files = true;
  for (std::size_t i = 0; i < paths.size(); ++i) {
    const logs::LogSummary log = logs.streams()[i]->Summary();
    all_files = all_files && log.is_file;
    if (!log.IsDisordered()) {
      continue;
    }
    if (!log.is_file) {
      return Fault(
          log.name + ": " + replay::Grouped(log.late + log.ahead) + " of " +
          replay::Grouped(log.requests + log.ahead) + " lines are more than " +
          replay::SpanText(options.horizon) +
          " out of order, so the result would be wrong. Nothing was judged. Add --sort, or "
          "give the logs as files: files are merged by time, and sorted if necessary");
    }
    options.sort_paths.insert(paths[i]);
    any = true;
  }
  if (any && !all_files) {
    return Fault(*options.sort_paths.begin() +
                 ": its lines are too far out of order, so it must be sorted. That needs a second "
                 "pass over all logs, but standard input can be read only once. Add --sort");
  }
  return any;
}

constexpr std::chrono::milliseconds kEvery{100};
constexpr int kWidth = 40;

}  // namespace

Result<void> ReadInOrder(const LogArguments& arguments, logs::LogOptions options,
                         const logs::AttributePlan& plan, bool final,
                         const std::function<Result<void>(logs::LogMerge&)>& read) {
  if (final) {
    for (const std::string& path : arguments.logs) {
      std::error_code error;
      if (path == "-" || !std::filesystem::is_regular_file(path, error)) {
        continue;
      }
      auto logs = logs::LogMerge::Open({path}, options, plan);
      if (!logs) {
        return tl::unexpected(std::move(logs.error()));
      }
      while (logs::LogStream* const stream = logs->Next()) {
        stream->Pop();
      }
      if (const auto any = SortWhatIsDisordered(*logs, {path}, options); !any) {
        return tl::unexpected(any.error());
      }
    }
  }
  for (;;) {
    auto logs = logs::LogMerge::Open(arguments.logs, options, plan);
    if (!logs) {
      return tl::unexpected(std::move(logs.error()));
    }
    if (Result<void> done = read(*logs); !done) {
      return done;
    }
    if (auto failure = logs->Failure()) {
      return tl::unexpected(std::move(*failure));
    }
    const auto again = SortWhatIsDisordered(*logs, arguments.logs, options);
    if (!again) {
      return tl::unexpected(again.error());
    }
    if (!*again) {
      return {};
    }
  }
}

ProgressBar::ProgressBar(const logs::LogMerge& logs)
    : logs_(logs), on_terminal_(isatty(STDERR_FILENO) == 1), began_(SteadyClock::now()) {}

ProgressBar::~ProgressBar() {
  if (on_screen_) {
    std::fprintf(stderr, "\r\033[K");
    std::fflush(stderr);
  }
}

void ProgressBar::Show() {
  if (!on_terminal_) {
    return;
  }
  const auto now = SteadyClock::now();
  if (now - drawn_ < kEvery) {
    return;
  }
  drawn_ = now;
  on_screen_ = true;
  const std::uint64_t lines = logs_.LinesRead();
  const double seconds = std::chrono::duration<double>(now - began_).count();
  std::string text = "\r\033[K";
  if (const double part = logs_.Progress(); part >= 0) {
    const int done = std::clamp(static_cast<int>(part * kWidth), 0, kWidth);
    text += '[';
    text.append(static_cast<std::size_t>(done), '#');
    text.append(static_cast<std::size_t>(kWidth - done), ' ');
    text += "] " + std::to_string(static_cast<int>(part * 100)) + " %  ";
  }
  text += replay::Grouped(lines) + " lines";
  if (seconds > 0) {
    text += ", " +
            replay::Grouped(static_cast<std::uint64_t>(static_cast<double>(lines) / seconds)) +
            " a second";
  }
  std::fputs(text.c_str(), stderr);
  std::fflush(stderr);
}

}  // namespace sluice::app
