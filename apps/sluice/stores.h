#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "sluice/result.h"

#include "base/clock.h"
#include "daemon_config.h"
#include "redis/redis_store.h"
#include "store/table.h"
#include "store_config.h"
#include "telemetry/registry.h"

namespace sluice::app {

// The daemon's table, and what to call it.
struct OpenedTable {
  std::unique_ptr<store::Table> store;
  std::string snapshot;     // The file that its snapshots are written to; "" for none.
  std::string description;  // "table /dev/shm/sluice-0-8080.table, 1000000 keys, 96 MiB, resumed"

  // Occupancy, and events because of a full table. The table outlives the registry's scrapes.
  void AddMetrics(telemetry::Registry& registry) const;
};

// Opens what config.table says. Its path left out: a file under /dev/shm named for user and
// port, which the next start finds, also after a kill; where every check listener's port is 0
// there is no name to find it by, so it lives in plain memory and ends with the process.
// What was found is logged: keys that a snapshot had, a changed size, a snapshot passed over.
// Errors say what to do.
[[nodiscard]] Result<OpenedTable> OpenTable(const DaemonConfig& config, const base::Clock& clock);

// The Redis that the configuration names: its nodes, keys and state. Nothing is dialled before a
// loop is attached, and nothing waits for it. What happens to connections is logged, once for all
// loops.
// `seconds`: another one, for Envoy's limits per second; nullptr for none. `on_secret` gets the
// secret that all nodes of this Redis share, on one of its loops; empty: it is not asked for.
[[nodiscard]] std::unique_ptr<redis::RedisStore> MakeRedisStore(
    const RedisConfig& config, const RedisConfig* seconds, const base::Clock& clock,
    std::function<void(std::string_view secret)> on_secret);

// "redis redis.example:6379", "redis mymaster by Sentinel a:26379, b:26379"
[[nodiscard]] std::string Describe(const RedisConfig& config);

}  // namespace sluice::app
