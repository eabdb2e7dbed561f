#pragma once

#include <vector>

#include "sluice/time.h"

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

}  // namespace sluice::app
