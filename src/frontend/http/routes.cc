#include <algorithm>
#include <optional>
#include <utility>

#include "frontend/http/admin_handler.h"
#include "frontend/http/ban_handler.h"
#include "frontend/http/batch_handler.h"
#include "frontend/http/check_handler.h"
#include "frontend/http/config_handler.h"
#include "frontend/http/envoy_handler.h"
#include "frontend/http/envoy_usage_handler.h"
#include "frontend/http/explain_handler.h"
#include "frontend/http/hold_handler.h"
#include "frontend/http/key_handler.h"
#include "frontend/http/mode_handler.h"
#include "frontend/http/openapi.h"
#include "frontend/http/proxy_handler.h"
#include "frontend/http/route.h"
#include "frontend/http/settle_handler.h"
#include "frontend/http/shadow_handler.h"
#include "frontend/http/status_handler.h"

namespace sluice::frontend::http {

namespace {

using Routed = RoutedRequest;
using enum wire::HttpMethod;
using enum Role;
using enum Route::Tail;
using enum Route::Needs;

constexpr std::string_view kMetricsPath = "/metrics";
constexpr std::size_t kBatchBytes = 256 * 1024;
constexpr Methods kRead{kGet};
constexpr Methods kChange{kGet, kPut, kDelete};

// The paths asked for most often come first, for they are searched in this order. Rule ids have no
// character that a path encodes, so an encoded {rule_id} names no rule.
constexpr Route kRoutes[] = {
    {.path = "/v1/ratelimit/check",
     .methods = {kPost},
     .roles = {kCheck},
     .handle =
         [](const Routed& r) {
           HandleCheck(r.request, r.at.settings.memory, r.at.service, r.exchange);
         }},
    {.path = "/v1/check/http",
     .methods = Methods::Any(),
     .roles = {kCheck},
     .handle =
         [](const Routed& r) {
           HandleProxyCheck(r.request, r.tail, r.at.settings.proxy, r.exchange);
         }},
    {.path = "/v1/check/http/{original_path}",
     .methods = Methods::Any(),
     .roles = {kCheck},
     .handle =
         [](const Routed& r) {
           HandleProxyCheck(r.request, r.tail, r.at.settings.proxy, r.exchange);
         },
     .tail = kRest},
    {.path = "/json",
     .methods = Methods::Any(),
     .roles = {kCheck},
     .handle =
         [](const Routed& r) { HandleRateLimitJson(r.request, *r.at.settings.envoy, r.exchange); },
     .needs = kEnvoy},
    {.path = "/v1/ratelimit/batch",
     .methods = {kPost},
     .roles = {kCheck},
     .handle = [](const Routed& r) { HandleBatch(r.request, r.at.service, r.exchange); },
     .body_bytes = kBatchBytes},
    {.path = "/v1/ratelimit/status",
     .methods = kRead,
     .roles = {kCheck, kAdmin},
     .handle =
         [](const Routed& r) {
           if (r.at.settings.role == kAdmin) {
             r.exchange.secrets = rules::Secrets::kMayBeHashes;
           }
           HandleStatus(r.request, std::nullopt, r.exchange);
         }},
    {.path = "/v1/ratelimit/status/{user_id}",
     .methods = kRead,
     .roles = {kCheck},
     .handle = [](const Routed& r) { HandleStatus(r.request, r.tail, r.exchange); },
     .tail = kSegment},
    {.path = "/v1/ratelimit/release",
     .methods = {kPost},
     .roles = {kCheck},
     .handle = [](const Routed& r) { HandleHolds(r.request, false, r.at.service, r.exchange); }},
    {.path = "/v1/ratelimit/renew",
     .methods = {kPost},
     .roles = {kCheck},
     .handle = [](const Routed& r) { HandleHolds(r.request, true, r.at.service, r.exchange); }},
    {.path = "/v1/ratelimit/settle",
     .methods = {kPost},
     .roles = {kCheck},
     .handle = [](const Routed& r) { HandleSettle(r.request, r.at.service, r.exchange); }},
    {.path = "/v1/ratelimit/refund",
     .methods = {kPost},
     .roles = {kCheck},
     .handle = [](const Routed& r) { HandleReceipt(r.request, r.at.service, r.exchange); }},

    {.path = "/v1/ratelimit/config",
     .methods = kRead,
     .roles = {kAdmin},
     .handle = [](const Routed& r) { HandleRules(*r.at.settings.context, r.exchange); },
     .needs = kAdminState},
    {.path = "/v1/ratelimit/config/{rule_id}",
     .methods = kChange,
     .roles = {kAdmin},
     .handle =
         [](const Routed& r) { HandleRule(r.request, r.tail, *r.at.settings.context, r.exchange); },
     .tail = kSegment,
     .needs = kAdminState},
    {.path = "/v1/ratelimit/mode/{rule_id}",
     .methods = kChange,
     .roles = {kAdmin},
     .handle =
         [](const Routed& r) { HandleMode(r.request, r.tail, *r.at.settings.context, r.exchange); },
     .tail = kSegment,
     .needs = kAdminState},
    {.path = "/v1/ratelimit/kill-switch",
     .methods = {kGet, kPut},
     .roles = {kAdmin},
     .handle =
         [](const Routed& r) { HandleKillSwitch(r.request, *r.at.settings.context, r.exchange); },
     .needs = kAdminState},
    {.path = "/v1/ratelimit/explain",
     .methods = kRead,
     .roles = {kAdmin},
     .handle =
         [](const Routed& r) { HandleExplain(r.request, *r.at.settings.context, r.exchange); },
     .needs = kAdminState},
    {.path = "/v1/ratelimit/shadow-report",
     .methods = kRead,
     .roles = {kAdmin},
     .handle = [](const Routed& r) { HandleShadowReport(*r.at.settings.context, r.exchange); },
     .needs = kAdminState},
    {.path = "/v1/ratelimit/reset",
     .methods = {kPost},
     .roles = {kAdmin},
     .handle = [](const Routed& r) { HandleReset(r.request, r.at.service, r.exchange); },
     .needs = kAdminState},
    {.path = "/v1/ratelimit/refund",
     .methods = {kPost},
     .roles = {kAdmin},
     .handle = [](const Routed& r) { HandleRefund(r.request, r.at.service, r.exchange); },
     .needs = kAdminState},
    {.path = "/v1/ratelimit/bans",
     .methods = kRead,
     .roles = {kAdmin},
     .handle = [](const Routed& r) { HandleBans(r.at.service, r.exchange); }},
    {.path = "/v1/ratelimit/unban",
     .methods = {kPost},
     .roles = {kAdmin},
     .handle = [](const Routed& r) { HandleUnban(r.request, r.at.service, r.exchange); }},

    {.path = kMetricsPath,
     .methods = kRead,
     .roles = {kAdmin, kMetrics},
     .handle = [](const Routed& r) { HandleMetrics(r.at.registry, r.exchange); }},
    {.path = "/healthz",
     .methods = kRead,
     .roles = {kCheck, kAdmin, kMetrics},
     .handle = [](const Routed& r) { HandleHealth(r.exchange); },
     .open = true},
    {.path = "/readyz",
     .methods = kRead,
     .roles = {kCheck, kAdmin, kMetrics},
     .handle = [](const Routed& r) { HandleReadiness(r.at.readiness, r.exchange); },
     .open = true},
    {.path = "/openapi.json",
     .methods = kRead,
     .roles = {kCheck, kAdmin, kMetrics},
     .handle =
         [](const Routed& r) {
           r.exchange.AnswerText(200, "application/json", r.at.description.Text());
         }},

    {.path = "/healthcheck",
     .methods = kRead,
     .roles = {kCheck},
     .handle = [](const Routed& r) { HandleEnvoyHealth(*r.at.settings.envoy, r.exchange); },
     .needs = kEnvoy},
    {.path = "/rlconfig",
     .methods = kRead,
     .roles = {kAdmin},
     .handle = [](const Routed& r) { HandleLimits(*r.at.settings.envoy, r.exchange); },
     .needs = kEnvoy},
    {.path = "/stats",
     .methods = kRead,
     .roles = {kAdmin},
     .handle = [](const Routed& r) { HandleStats(*r.at.settings.envoy, r.exchange); },
     .needs = kEnvoy},
    {.path = "/",
     .methods = kRead,
     .roles = {kAdmin},
     .handle = [](const Routed& r) { HandleDebugPaths(*r.at.settings.envoy, r.exchange); },
     .needs = kEnvoy},
    {.path = "/rlusage",
     .methods = {kPost},
     .roles = {kAdmin},
     .handle =
         [](const Routed& r) { HandleUsage(r.request, false, *r.at.settings.envoy, r.exchange); },
     .needs = kEnvoy},
    {.path = "/rlreset",
     .methods = {kPost},
     .roles = {kAdmin},
     .handle =
         [](const Routed& r) { HandleUsage(r.request, true, *r.at.settings.envoy, r.exchange); },
     .needs = kEnvoy},

};

bool IsServed(const Route& route, const FrontEndSettings& settings) {
  return std::ranges::find(route.roles, settings.role) != route.roles.end() &&
         (route.needs != kAdminState || settings.context != nullptr) &&
         (route.needs != kEnvoy || settings.envoy != nullptr);
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
