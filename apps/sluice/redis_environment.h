#pragma once

#include <string_view>

#include "daemon_config.h"
#include "environment_reader.h"

namespace sluice::app {

// Sets `config` up with the Redis that envoyproxy/ratelimit's variables name, and another for
// limits per second if they say so. Without REDIS_URL, or where the configuration file has named a
// store, that stays; only for how long counters live they are heeded there, too.
void ReadRedisEnvironment(EnvironmentReader& read, DaemonConfig& config);

// Why this variable, which is set, has no effect; "" if it has one, or is not about Redis.
[[nodiscard]] std::string_view WhyUnheededOfRedis(std::string_view name,
                                                  const DaemonConfig& config);

}  // namespace sluice::app
