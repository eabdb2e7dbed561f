#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "redis/redis_store.h"
#include "store_config.h"

namespace sluice::app {

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
