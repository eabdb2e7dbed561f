#pragma once

#include <functional>
#include <optional>

#include "net/signal_set.h"

namespace sluice::net {
class EventLoop;
}  // namespace sluice::net

namespace sluice::app {

// SIGTERM, SIGINT and SIGHUP of a daemon. It exists before anything else of the daemon and for
// longer, and acts on nothing that is not complete: until the daemon serves, a signal is only
// noted. One thread: the loop's.
class DaemonSignals {
 public:
  struct Actions {
    std::function<void()> reload;          // SIGHUP
    std::function<void(int signal)> stop;  // SIGTERM, SIGINT; again each time.
  };

  // Made while the process has one thread (net/signal_set.h). `loop` outlives it.
  explicit DaemonSignals(net::EventLoop& loop);
  DaemonSignals(const DaemonSignals&) = delete;
  DaemonSignals& operator=(const DaemonSignals&) = delete;

  // What the signals do from here on, which is complete. A signal that came before is acted on now:
  // one that asks for the end, or else a SIGHUP.
  void Attach(Actions actions);
  // Signals are only noted again.
  void Detach() { actions_.reset(); }

  // The last signal that asked for the end before Attach(); 0: none. A start that waits for
  // something runs the loop, and gives up once there is one.
  [[nodiscard]] int stop_signal() const { return stop_signal_; }

 private:
  void OnSignal(int signal);

  std::optional<Actions> actions_;
  int stop_signal_ = 0;
  bool must_reload_ = false;
  net::SignalSet signals_;
};

}  // namespace sluice::app
