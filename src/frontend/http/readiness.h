#pragma once

#include <atomic>

namespace sluice::frontend::http {

// Whether this daemon wants traffic: what /readyz says. Off until the front ends are open and
// again from the first signal to stop. Any thread.
class Readiness {
 public:
  [[nodiscard]] bool ready() const { return ready_.load(std::memory_order_relaxed); }
  void Set(bool ready) { ready_.store(ready, std::memory_order_relaxed); }

 private:
  std::atomic<bool> ready_{false};
};

}  // namespace sluice::frontend::http
