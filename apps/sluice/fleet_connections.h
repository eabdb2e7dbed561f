#pragma once

#include <memory>
#include <vector>

#include "engine.h"
#include "lease/lease_store.h"
#include "lifecycle.h"
#include "net/timer_wheel.h"
#include "redis/redis_store.h"

namespace sluice::app {

class Server;

// The loops' connections to the Redis that nodes share, and the units that each loop has borrowed.
// Nothing where the table is the store.
class FleetConnections final : public Component {
 public:
  // Both outlive it.
  FleetConnections(Engine& engine, Server& server) : engine_(engine), server_(server) {}

  void Start() override;
  // Gives back what was borrowed, for others to use.
  void Drain() override;
  // Also once that was tried for long enough.
  [[nodiscard]] bool drained() override;

 private:
  Engine& engine_;
  Server& server_;
  // Redis's answers go through the leases, which therefore stay for longer.
  std::vector<std::unique_ptr<lease::LeaseStore::Attachment>> leases_;
  std::vector<std::unique_ptr<redis::RedisStore::Attachment>> redis_;
  net::SteadyTime until_{};
};

}  // namespace sluice::app
