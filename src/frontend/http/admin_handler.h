#pragma once

#include "frontend/http/exchange.h"
#include "frontend/http/readiness.h"
#include "telemetry/registry.h"

namespace sluice::frontend::http {

// GET /healthz: 200 as long as the loop turns.
void HandleHealth(Exchange& exchange);

// GET /readyz: 200 while this daemon wants traffic, else 503.
void HandleReadiness(const Readiness& readiness, Exchange& exchange);

// GET /metrics: all that the registry knows, as Prometheus reads it.
void HandleMetrics(const telemetry::Registry& registry, Exchange& exchange);

}  // namespace sluice::frontend::http
