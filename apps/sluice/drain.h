#pragma once

#include <chrono>
#include <memory>
#include <vector>

#include "lease/lease_store.h"
#include "net/timer_wheel.h"

namespace sluice::net {
class EventLoop;
}  // namespace sluice::net

namespace sluice::app {

class Server;

// The end of a daemon that serves: it takes no new connections, answers what is under way, gives
// borrowed units back to the shared store, and stops the control loop. One thread: the loop's.
class Drain {
 public:
  // All outlive it. `leases` is nullptr where no units are borrowed.
  Drain(net::EventLoop& control, Server& server, lease::LeaseStore* leases);
  Drain(const Drain&) = delete;
  Drain& operator=(const Drain&) = delete;

  // A loop's part of the leases, which gives back what it borrowed. Kept until this goes.
  void Add(std::unique_ptr<lease::LeaseStore::Attachment> loop);

  // Stops the control loop once all is done, or after `timeout`. Called once.
  void Begin(std::chrono::nanoseconds timeout);

 private:
  void Check();
  // Whether no borrowed unit is left here, for others to use; or it was tried for long enough.
  [[nodiscard]] bool GaveBack();

  net::EventLoop& control_;
  Server& server_;
  lease::LeaseStore* leases_;
  std::vector<std::unique_ptr<lease::LeaseStore::Attachment>> loops_;
  net::Timer check_;
  net::SteadyTime until_{};
  net::SteadyTime give_back_until_{};
};

}  // namespace sluice::app
