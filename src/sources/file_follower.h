#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>

#include "sluice/result.h"
#include "sluice/time.h"

#include "net/process_events.h"
#include "net/timer_wheel.h"
#include "sources/file_source.h"

namespace sluice::net {
class EventLoop;
}  // namespace sluice::net

namespace sluice::sources {

// Why files are read.
enum class ReloadCause : std::uint8_t {
  kStart,
  kFilesChanged,
  kOperator,  // SIGHUP. It gets an answer in the log each time, also where nothing is new.
};

// As the log names it.
[[nodiscard]] constexpr std::string_view NameOf(ReloadCause cause) {
  switch (cause) {
    case ReloadCause::kStart:
      return "start";
    case ReloadCause::kFilesChanged:
      return "files changed";
    case ReloadCause::kOperator:
      return "SIGHUP";
  }
  return "";
}

// Says on the loop that files have changed, once they have settled: editors and tools put a file
// in place in steps (away with the old one, a new one, its text), and a step is no whole. One
// thread: the loop's.
class FileFollower {
 public:
  // `loop` and `files` outlive it. `settle` is from the first sign of a change to `on_changed`.
  // Errors: no descriptor is left.
  [[nodiscard]] static Result<std::unique_ptr<FileFollower>> Create(
      net::EventLoop& loop, FileSource& files, Duration settle, std::function<void()> on_changed);

 private:
  FileFollower(net::EventLoop& loop, FileSource& files, Duration settle,
               std::function<void()> on_changed, int fd);
  void OnReadable();

  net::EventLoop& loop_;
  FileSource& files_;
  const Duration settle_;
  std::function<void()> on_changed_;
  net::FdWatcher watcher_;
  net::Timer settled_;
  bool settling_ = false;
};

}  // namespace sluice::sources
