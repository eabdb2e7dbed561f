#include "fleet_connections.h"

#include <chrono>

#include "net/event_loop.h"
#include "server.h"

namespace sluice::app {

void FleetConnections::Start() {
  if (engine_.redis == nullptr) {
    return;
  }
  server_.EachLoop([this](net::EventLoop& loop) {
    redis_.push_back(engine_.redis->Attach(loop));
    leases_.push_back(engine_.leases->Attach(&loop));
  });
}

void FleetConnections::Drain() {
  constexpr auto kLongest = std::chrono::milliseconds(500);
  until_ = std::chrono::steady_clock::now() + kLongest;
  for (const auto& loop : leases_) {
    loop->Drain();
  }
}

bool FleetConnections::drained() {
  return leases_.empty() || engine_.leases->idle() || std::chrono::steady_clock::now() >= until_;
}

}  // namespace sluice::app
