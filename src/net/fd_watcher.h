#pragma once

#include <functional>
#include <memory>

namespace sluice::net {

class EventLoop;

// Calls back on the loop's thread whenever a file descriptor (inotify, eventfd) is readable.
// One thread: the loop's.
class FdWatcher {
 public:
  // Takes `fd` over and closes it in the end; makes it non-blocking. `on_readable` should
  // read until nothing is left: it is called again as long as something is. It may destroy
  // the watcher.
  FdWatcher(EventLoop& loop, int fd, std::function<void()> on_readable);
  ~FdWatcher();
  FdWatcher(const FdWatcher&) = delete;
  FdWatcher& operator=(const FdWatcher&) = delete;

  [[nodiscard]] int fd() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace sluice::net
