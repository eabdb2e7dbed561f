#pragma once

#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>

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

// Tells systemd how the service is (sd_notify(3)), by a datagram to $NOTIFY_SOCKET, without
// libsystemd. Any thread; never blocks; no supervisor has to listen.
class SystemdNotify {
 public:
  // `socket`: a path, or '@' and an abstract name; "" without a supervisor.
  explicit SystemdNotify(std::string socket) : socket_(std::move(socket)) {}
  [[nodiscard]] static SystemdNotify FromEnvironment();

  // Each returns false if no message was sent.
  bool Ready() const { return Send("READY=1"); }
  bool Stopping() const { return Send("STOPPING=1"); }
  // Reloading() and then Ready() frame a reload; the time lets systemd tell which is newer.
  bool Reloading() const;

 private:
  [[nodiscard]] bool Send(std::string_view state) const;

  std::string socket_;
};

}  // namespace sluice::net
