#pragma once

#include <span>
#include <string>
#include <string_view>

#include "daemon_config.h"
#include "environment_reader.h"
#include "rules/findings.h"

namespace sluice::app {

// Sets `config` up as the environment variables of envoyproxy/ratelimit say: what it listens on,
// and Envoy's service. `keep_listeners`: a configuration file has named its own. What is wrong goes
// to `findings`.
void ApplyEnvoyEnvironment(const Environment& environment, bool keep_listeners,
                           DaemonConfig& config, rules::Findings& findings);

// Of the variables that are set, those that the old service heeds and this one does not, each with
// the reason, in one text; "" if there are none. `config` is what was made of them.
[[nodiscard]] std::string WarnOfUnheeded(std::span<const std::string> names,
                                         const DaemonConfig& config);

// The part about Redis (redis_environment.cc): sets `config` up with the Redis that
// envoyproxy/ratelimit's variables name, and another for limits per second if they say so. Without
// REDIS_URL, or where the configuration file has named a store, that stays; only for how long
// counters live they are heeded there, too.
void ReadRedisEnvironment(EnvironmentReader& read, DaemonConfig& config);

// Why this variable, which is set, has no effect; "" if it has one, or is not about Redis.
[[nodiscard]] std::string_view WhyUnheededOfRedis(std::string_view name,
                                                  const DaemonConfig& config);

}  // namespace sluice::app
