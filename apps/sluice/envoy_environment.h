#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "daemon_config.h"
#include "rules/findings.h"

namespace sluice::app {

// The value of an environment variable; nullopt where it is not set.
using Environment = std::function<std::optional<std::string>(std::string_view)>;
[[nodiscard]] Environment ProcessEnvironment();

// Sets `config` up as the environment variables of envoyproxy/ratelimit say: what it listens on,
// and Envoy's service. `keep_listeners`: a configuration file has named its own. What is wrong goes
// to `findings`.
void ApplyEnvoyEnvironment(const Environment& environment, bool keep_listeners,
                           DaemonConfig& config, rules::Findings& findings);

// Of the variables that are set, those that the old service heeds and this one does not, each with
// the reason, in one text; "" if there are none. `config` is what was made of them.
[[nodiscard]] std::string WarnOfUnheeded(std::span<const std::string> names,
                                         const DaemonConfig& config);
// The names of all variables of this process.
[[nodiscard]] std::vector<std::string> ProcessVariables();

// "1h30m", "150us", "10s", as Go writes durations; nullopt for anything else.
[[nodiscard]] std::optional<Duration> ReadGoDuration(std::string_view text);

}  // namespace sluice::app
