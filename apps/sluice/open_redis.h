#pragma once

#include <memory>
#include <string>

#include "base/clock.h"
#include "redis/redis_store.h"
#include "store_config.h"

namespace sluice::app {

// The Redis that the configuration names: its nodes, keys and state. Nothing is dialled before a
// loop is attached, and nothing waits for it. What happens to connections is logged, once for all
// loops.
// `seconds`: another one, for Envoy's limits per second; nullptr for none.
[[nodiscard]] std::unique_ptr<redis::RedisStore> MakeRedisStore(const RedisConfig& config,
                                                                const RedisConfig* seconds,
                                                                const base::Clock& clock);

// "redis redis.example:6379", "redis mymaster by Sentinel a:26379, b:26379"
[[nodiscard]] std::string Describe(const RedisConfig& config);

}  // namespace sluice::app
