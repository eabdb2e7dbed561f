#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "sluice/time.h"

#include "net/process_events.h"
#include "net/timer_wheel.h"

namespace sluice::net {
class EventLoop;
}  // namespace sluice::net

namespace sluice::app {

// A part of a daemon that does something by itself from Start() on. All calls come from the control
// loop's thread, in the order Start(), Drain(), Stop(); Drain() may be left out.
class Component {
 public:
  Component() = default;
  Component(const Component&) = delete;
  Component& operator=(const Component&) = delete;
  virtual ~Component() = default;

  virtual void Start() {}
  // Takes no new work, and finishes what it has.
  virtual void Drain() {}
  // Whether nothing is left of it; asked after Drain().
  [[nodiscard]] virtual bool drained() { return true; }
  // Ends it, drained or not.
  virtual void Stop() {}
};

// The components of a daemon, started in their order, and drained and stopped in the other: what
// was started last goes first. One thread: the control loop's.
class Lifecycle {
 public:
  // All outlive it.
  Lifecycle(net::EventLoop& control, std::vector<Component*> components);
  ~Lifecycle();
  Lifecycle(const Lifecycle&) = delete;
  Lifecycle& operator=(const Lifecycle&) = delete;

  void Start();
  // Drains one component after the other; then, or after `timeout`, stops the control loop. Called
  // once, after Start().
  void Drain(Duration timeout);
  // Stops all that were started. Idempotent.
  void Stop();

 private:
  void Check();

  net::EventLoop& control_;
  const std::vector<Component*> components_;
  std::vector<Component*> started_;
  std::vector<Component*> undrained_;  // The last of them drains now.
  net::Timer check_;
  net::SteadyTime until_{};
};

// SIGTERM, SIGINT and SIGHUP of a daemon. It exists before anything else of the daemon and for
// longer, and acts on nothing that is not complete: until the daemon serves, a signal is only
// noted. One thread: the loop's.
class DaemonSignals {
 public:
  struct Actions {
    std::function<void()> reload;          // SIGHUP
    std::function<void(int signal)> stop;  // SIGTERM, SIGINT; again each time.
  };

  // Made while the process has one thread (net/process_events.h). `loop` outlives it.
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
