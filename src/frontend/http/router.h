#pragma once

#include <string_view>

#include "frontend/http/door_settings.h"
#include "frontend/http/exchange.h"
#include "frontend/http/readiness.h"
#include "service/limiter_service.h"
#include "telemetry/registry.h"
#include "wire/http1_request.h"

namespace sluice::frontend::http {

// Which handler a request belongs to:
//
//   both      GET  /healthz, /readyz, /openapi.json
//   check     POST /v1/ratelimit/check, GET /v1/ratelimit/status[/{user_id}]
//             POST /v1/ratelimit/batch, release, renew, settle, refund
//             any method /v1/check/http[/...]
//             any method /json, GET /healthcheck, where there is Envoy's service
//   admin     GET  /metrics, /v1/ratelimit/bans; POST /v1/ratelimit/unban
//             GET  /v1/ratelimit/config; GET, PUT, DELETE /v1/ratelimit/config/{rule_id}
//             GET, PUT, DELETE /v1/ratelimit/mode/{rule_id}
//             GET, PUT /v1/ratelimit/kill-switch
//             GET  /v1/ratelimit/shadow-report
//             POST /v1/ratelimit/reset, /v1/ratelimit/refund
//             GET  /rlconfig, where there is Envoy's service
//
// HEAD wherever GET; another method is 405 with Allow, another path 404. With a token set,
// all but health wants `Authorization: Bearer <token>`. What it refers to outlives it. One thread.
class Router {
 public:
  Router(const DoorSettings& settings, service::LimiterService& service, const Readiness& readiness,
         const telemetry::Registry& registry)
      : settings_(settings),
        token_(settings.token),
        service_(service),
        readiness_(readiness),
        registry_(registry) {}

  // Leaves `exchange` answered, or set up to ask the service.
  void Route(const wire::Http1Request& request, Exchange& exchange);

 private:
  void RouteCheck(const wire::Http1Request& request, Exchange& exchange) const;
  void RouteMetrics(const wire::Http1Request& request, Exchange& exchange) const;
  void RouteAdmin(const wire::Http1Request& request, Exchange& exchange) const;
  // False if the path is none of the desk's.
  [[nodiscard]] static bool RouteDesk(const wire::Http1Request& request, const AdminDesk& desk,
                                      Exchange& exchange);
  // The same of Envoy's paths.
  [[nodiscard]] bool RouteEnvoy(const wire::Http1Request& request, const EnvoyDesk& desk,
                                Exchange& exchange) const;
  // Answers 401 unless the request shows the token, where one is asked for.
  [[nodiscard]] bool Admits(const wire::Http1Request& request, Exchange& exchange);

  const DoorSettings& settings_;
  TokenCheck token_;
  service::LimiterService& service_;
  const Readiness& readiness_;
  const telemetry::Registry& registry_;
};

}  // namespace sluice::frontend::http
