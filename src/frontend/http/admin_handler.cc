#include "frontend/http/admin_handler.h"

#include "frontend/http/problem.h"

namespace sluice::frontend::http {

namespace {
constexpr std::string_view kText = "text/plain; charset=utf-8";
constexpr std::string_view kExposition = "text/plain; version=0.0.4; charset=utf-8";
}  // namespace

void HandleHealth(Exchange& exchange) {
  exchange.AnswerText(200, kText, "ok\n");
}

void HandleReadiness(const Readiness& readiness, Exchange& exchange) {
  if (readiness.ready()) {
    exchange.AnswerText(200, kText, "ready\n");
    return;
  }
  exchange.AnswerProblem({.status = 503,
                          .title = {},
                          .detail = "not ready: starting, or stopping",
                          .code = "not_ready"});
}

void HandleMetrics(const telemetry::Registry& registry, Exchange& exchange) {
  exchange.AnswerText(200, kExposition, registry.Text());
}

}  // namespace sluice::frontend::http
