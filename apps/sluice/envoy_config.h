#pragma once

#include "sluice/time.h"

#include "control/envoy_config_loader.h"
#include "envoy/settings.h"

namespace sluice::app {

// Envoy's rate limit service, as it is configured: `envoy:` in sluice.yaml, or the environment.
struct EnvoyConfig {
  control::EnvoyFiles files;
  envoy::Settings settings;
  bool healthy_with_a_configuration = false;  // Only with one that has a domain is it healthy.
  Duration max_connection_age{};              // 0: no end.
  Duration max_connection_age_grace = std::chrono::hours(1);
};

}  // namespace sluice::app
