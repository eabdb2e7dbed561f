#pragma once

#include <atomic>

namespace sluice::frontend::grpc {

// Whether the daemon serves, as grpc.health.v1.Health says it. Whoever changes it tells every front
// end (FrontEnd::OnHealthChanged()), for those who watch. Any thread.
class Health {
 public:
  [[nodiscard]] bool serving() const { return serving_.load(std::memory_order_relaxed); }
  // True if this is another state than before.
  bool Set(bool serving) {
    return serving_.exchange(serving, std::memory_order_relaxed) != serving;
  }

 private:
  std::atomic<bool> serving_{false};
};

}  // namespace sluice::frontend::grpc
