#include <algorithm>
#include <utility>

#include "frontend/http/handlers.h"
#include "frontend/http/openapi.h"

namespace sluice::frontend::http {

namespace {

using enum wire::HttpMethod;
using enum Role;
using enum Route::Tail;
using enum Route::Needs;

constexpr std::string_view kText = "text/plain; charset=utf-8";
constexpr std::string_view kMetricsPath = "/metrics";
constexpr std::size_t kBatchBytes = 256 * 1024;
constexpr Methods kRead{kGet};
constexpr Methods kChange{kGet, kPut, kDelete};

// The paths asked for most often come first, for they are searched in this order. Rule ids have no
// character that a path encodes, so an encoded {rule_id} names no rule.
constexpr Route kRoutes[] = {
    {.path = "/v1/ratelimit/check", .methods = {kPost}, .roles = {kCheck}, .handle = HandleCheck},
    {.path = "/v1/check/http",
     .methods = Methods::Any(),
     .roles = {kCheck},
     .handle = HandleProxyCheck},
    {.path = "/v1/check/http/{original_path}",
     .methods = Methods::Any(),
     .roles = {kCheck},
     .handle = HandleProxyCheck,
     .tail = kRest},
    {.path = "/json",
     .methods = Methods::Any(),
     .roles = {kCheck},
     .handle = HandleRateLimitJson,
     .needs = kEnvoy},
    {.path = "/v1/ratelimit/batch",
     .methods = {kPost},
     .roles = {kCheck},
     .handle = HandleBatch,
     .body_bytes = kBatchBytes},
    {.path = "/v1/ratelimit/status",
     .methods = kRead,
     .roles = {kCheck, kAdmin},
     .handle = HandleStatus},
    {.path = "/v1/ratelimit/status/{user_id}",
     .methods = kRead,
     .roles = {kCheck},
     .handle = HandleStatus,
     .tail = kSegment},
    {.path = "/v1/ratelimit/release",
     .methods = {kPost},
     .roles = {kCheck},
     .handle = HandleRelease},
    {.path = "/v1/ratelimit/renew", .methods = {kPost}, .roles = {kCheck}, .handle = HandleRenew},
    {.path = "/v1/ratelimit/settle", .methods = {kPost}, .roles = {kCheck}, .handle = HandleSettle},
    {.path = "/v1/ratelimit/refund",
     .methods = {kPost},
     .roles = {kCheck},
     .handle = HandleReceipt},

    {.path = "/v1/ratelimit/config",
     .methods = kRead,
     .roles = {kAdmin},
     .handle = HandleRules,
     .needs = kAdminState},
    {.path = "/v1/ratelimit/config/{rule_id}",
     .methods = kChange,
     .roles = {kAdmin},
     .handle = HandleRule,
     .tail = kSegment,
     .needs = kAdminState},
    {.path = "/v1/ratelimit/mode/{rule_id}",
     .methods = kChange,
     .roles = {kAdmin},
     .handle = HandleMode,
     .tail = kSegment,
     .needs = kAdminState},
    {.path = "/v1/ratelimit/kill-switch",
     .methods = {kGet, kPut},
     .roles = {kAdmin},
     .handle = HandleKillSwitch,
     .needs = kAdminState},
    {.path = "/v1/ratelimit/explain",
     .methods = kRead,
     .roles = {kAdmin},
     .handle = HandleExplain,
     .needs = kAdminState},
    {.path = "/v1/ratelimit/why",
     .methods = kRead,
     .roles = {kAdmin},
     .handle = HandleWhy,
     .needs = kAdminState},
    {.path = "/v1/ratelimit/shadow-report",
     .methods = kRead,
     .roles = {kAdmin},
     .handle = HandleShadowReport,
     .needs = kAdminState},
    {.path = "/v1/ratelimit/trace",
     .methods = kChange,
     .roles = {kAdmin},
     .handle = HandleTrace,
     .needs = kAdminState},
    {.path = "/v1/ratelimit/history",
     .methods = kRead,
     .roles = {kAdmin},
     .handle = HandleHistory,
     .needs = kHistory},
    {.path = "/v1/ratelimit/top",
     .methods = kRead,
     .roles = {kAdmin},
     .handle = HandleTop,
     .needs = kAdminState},
    {.path = "/v1/ratelimit/decisions",
     .methods = kRead,
     .roles = {kAdmin},
     .handle = HandleDecisions,
     .needs = kAdminState},
    {.path = "/v1/ratelimit/reset",
     .methods = {kPost},
     .roles = {kAdmin},
     .handle = HandleReset,
     .needs = kAdminState},
    {.path = "/v1/ratelimit/refund",
     .methods = {kPost},
     .roles = {kAdmin},
     .handle = HandleRefund,
     .needs = kAdminState},
    {.path = "/v1/ratelimit/bans", .methods = kRead, .roles = {kAdmin}, .handle = HandleBans},
    {.path = "/v1/ratelimit/unban", .methods = {kPost}, .roles = {kAdmin}, .handle = HandleUnban},
    {.path = "/v1/ratelimit/lab", .methods = {kPost}, .roles = {kAdmin}, .handle = HandleLab},

    {.path = kMetricsPath, .methods = kRead, .roles = {kAdmin, kMetrics}, .handle = HandleMetrics},
    {.path = "/healthz",
     .methods = kRead,
     .roles = {kCheck, kAdmin, kMetrics},
     .handle = HandleHealth,
     .open = true},
    {.path = "/readyz",
     .methods = kRead,
     .roles = {kCheck, kAdmin, kMetrics},
     .handle = HandleReadiness,
     .open = true},
    {.path = "/openapi.json",
     .methods = kRead,
     .roles = {kCheck, kAdmin, kMetrics},
     .handle = HandleOpenApi},

    {.path = "/console",
     .methods = kRead,
     .roles = {kAdmin},
     .handle = HandleConsoleFolder,
     .needs = kConsole,
     .open = true},
    {.path = "/console/{file}",
     .methods = kRead,
     .roles = {kAdmin},
     .handle = HandleConsole,
     .tail = kRest,
     .needs = kConsole,
     .open = true},

    {.path = "/healthcheck",
     .methods = kRead,
     .roles = {kCheck},
     .handle = HandleEnvoyHealth,
     .needs = kEnvoy},
    {.path = "/rlconfig",
     .methods = kRead,
     .roles = {kAdmin},
     .handle = HandleLimits,
     .needs = kEnvoy},
    {.path = "/stats", .methods = kRead, .roles = {kAdmin}, .handle = HandleStats, .needs = kEnvoy},
    {.path = "/", .methods = kRead, .roles = {kAdmin}, .handle = HandleDebugPaths, .needs = kEnvoy},
    {.path = "/rlusage",
     .methods = {kPost},
     .roles = {kAdmin},
     .handle = HandleEnvoyUsage,
     .needs = kEnvoy},
    {.path = "/rlreset",
     .methods = {kPost},
     .roles = {kAdmin},
     .handle = HandleEnvoyReset,
     .needs = kEnvoy},

};

bool IsServed(const Route& route, const FrontEndSettings& settings) {
  return std::ranges::find(route.roles, settings.role) != route.roles.end() &&
         (route.needs != kAdminState || settings.context != nullptr) &&
         (route.needs != kHistory || (settings.context != nullptr && settings.context->history)) &&
         (route.needs != kEnvoy || settings.envoy != nullptr) &&
         (route.needs != kConsole || settings.console);
}

}  // namespace

std::string Methods::Text() const {
  constexpr std::pair<wire::HttpMethod, std::string_view> kNames[] = {
      {kGet, "GET"},     {kHead, "HEAD"},     {kPost, "POST"},      {kPut, "PUT"},
      {kPatch, "PATCH"}, {kDelete, "DELETE"}, {kOptions, "OPTIONS"}};
  std::string text;
  for (const auto& [method, name] : kNames) {
    if (Has(method)) {
      text.append(text.empty() ? "" : ", ").append(name);
    }
  }
  return text;
}

bool ServedRoute::Matches(std::string_view asked, std::string_view& tail) const {
  if (route->tail == kNone) {
    return asked == prefix;
  }
  if (!asked.starts_with(prefix)) {
    return false;
  }
  if (route->tail == kRest) {
    tail = asked.substr(prefix.size() - 1);
    return true;
  }
  tail = asked.substr(prefix.size());
  return !tail.empty() && tail.find('/') == std::string_view::npos;
}

void HandleHealth(const Routed& routed) {
  routed.exchange.AnswerText(200, kText, "ok\n");
}

void HandleReadiness(const Routed& routed) {
  if (routed.at.readiness.ready()) {
    routed.exchange.AnswerText(200, kText, "ready\n");
    return;
  }
  routed.exchange.AnswerProblem({.status = 503,
                                 .title = {},
                                 .detail = "not ready: starting, or stopping",
                                 .code = "not_ready"});
}

void HandleMetrics(const Routed& routed) {
  routed.exchange.AnswerText(200, "text/plain; version=0.0.4; charset=utf-8",
                             routed.at.registry.Text());
}

void HandleOpenApi(const Routed& routed) {
  routed.exchange.AnswerText(200, "application/json", routed.at.description.Text());
}

std::vector<ServedRoute> RoutesOf(const FrontEndSettings& settings) {
  std::vector<ServedRoute> served;
  for (const Route& route : kRoutes) {
    if (IsServed(route, settings)) {
      const bool chosen = settings.role == kMetrics && route.path == kMetricsPath;
      const std::string_view path = chosen ? std::string_view(settings.metrics_path) : route.path;
      served.push_back({&route, path, path.substr(0, path.find('{'))});
    }
  }
  return served;
}

}  // namespace sluice::frontend::http
