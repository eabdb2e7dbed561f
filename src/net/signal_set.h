#pragma once

#include <functional>
#include <initializer_list>

#include "net/fd_watcher.h"

namespace sluice::net {

class EventLoop;

// Signals of the process (SIGTERM, SIGINT, SIGHUP) as calls on a loop's thread, one per signal
// that came (the kernel may merge several). Make it before any other thread: from then on they are
// blocked in this thread and all that it starts, and stay so when this is gone, so that a process
// that is about to end does not die of one. One thread: the loop's, or before it runs.
class SignalSet {
 public:
  // `on_signal` may destroy this. A kernel without signalfd(2) stops the process.
  SignalSet(EventLoop& loop, std::initializer_list<int> signals,
            std::function<void(int signal)> on_signal);

 private:
  void OnReadable();

  std::function<void(int)> on_signal_;
  FdWatcher watcher_;
};

}  // namespace sluice::net
