#pragma once

#include "envoy/rate_limit_service.h"
#include "frontend/grpc/health.h"

namespace sluice::frontend::http {

// What the paths of envoyproxy/ratelimit act on. All outlive the front end.
struct EnvoyContext {
  envoy::RateLimitService& rate_limits;
  const grpc::Health& health;
};

}  // namespace sluice::frontend::http
