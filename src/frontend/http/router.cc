#include "frontend/http/router.h"

#include <algorithm>
#include <initializer_list>
#include <optional>

#include "frontend/http/admin_handler.h"
#include "frontend/http/ban_handler.h"
#include "frontend/http/batch_handler.h"
#include "frontend/http/check_handler.h"
#include "frontend/http/config_handler.h"
#include "frontend/http/envoy_handler.h"
#include "frontend/http/envoy_usage_handler.h"
#include "frontend/http/hold_handler.h"
#include "frontend/http/key_handler.h"
#include "frontend/http/mode_handler.h"
#include "frontend/http/openapi.h"
#include "frontend/http/problem.h"
#include "frontend/http/proxy_handler.h"
#include "frontend/http/settle_handler.h"
#include "frontend/http/shadow_handler.h"
#include "frontend/http/status_handler.h"
#include "wire/ascii.h"

namespace sluice::frontend::http {

namespace {

constexpr std::string_view kCheckPath = "/v1/ratelimit/check";
constexpr std::string_view kBatchPath = "/v1/ratelimit/batch";
constexpr std::string_view kReleasePath = "/v1/ratelimit/release";
constexpr std::string_view kRenewPath = "/v1/ratelimit/renew";
constexpr std::string_view kSettlePath = "/v1/ratelimit/settle";
constexpr std::string_view kBansPath = "/v1/ratelimit/bans";
constexpr std::string_view kUnbanPath = "/v1/ratelimit/unban";
constexpr std::string_view kStatusPath = "/v1/ratelimit/status";
constexpr std::string_view kConfigPath = "/v1/ratelimit/config";
constexpr std::string_view kModePath = "/v1/ratelimit/mode";
constexpr std::string_view kKillSwitchPath = "/v1/ratelimit/kill-switch";
constexpr std::string_view kShadowReportPath = "/v1/ratelimit/shadow-report";
constexpr std::string_view kResetPath = "/v1/ratelimit/reset";
constexpr std::string_view kRefundPath = "/v1/ratelimit/refund";
constexpr std::string_view kProxyPath = "/v1/check/http";

// Answers 405 unless the method is the one served here.
bool AllowsPost(const wire::Http1Request& request, Exchange& exchange) {
  if (request.method == wire::HttpMethod::kPost) {
    return true;
  }
  exchange.AnswerProblem(
      {.status = 405, .title = {}, .detail = "this path takes POST", .code = {}});
  exchange.AddField("Allow", "POST");
  return false;
}

bool AllowsGet(const wire::Http1Request& request, Exchange& exchange) {
  if (request.method == wire::HttpMethod::kGet || request.method == wire::HttpMethod::kHead) {
    return true;
  }
  exchange.AnswerProblem(
      {.status = 405, .title = {}, .detail = "this path takes GET and HEAD", .code = {}});
  exchange.AddField("Allow", "GET, HEAD");
  return false;
}

// Answers 405 with `allow` unless the method is one of `methods`.
bool Allows(const wire::Http1Request& request, std::initializer_list<wire::HttpMethod> methods,
            std::string_view allow, Exchange& exchange) {
  if (std::find(methods.begin(), methods.end(), request.method) != methods.end()) {
    return true;
  }
  exchange.AnswerProblem({.status = 405,
                          .title = {},
                          .detail = "this path takes other methods: see Allow",
                          .code = {}});
  exchange.AddField("Allow", allow);
  return false;
}

void NotFound(std::string_view detail, Exchange& exchange) {
  exchange.AnswerProblem({.status = 404, .title = {}, .detail = detail, .code = {}});
}

// The longest body of everything but a batch.
constexpr std::size_t kBodyBytes = 64 * 1024;

// Answers 413 if the body is longer than this path takes.
bool Fits(const wire::Http1Request& request, Exchange& exchange) {
  if (request.body.size() <= kBodyBytes) {
    return true;
  }
  exchange.AnswerProblem(
      {.status = 413, .title = {}, .detail = "the body is too large", .code = {}});
  return false;
}

// The one segment behind `prefix`, still encoded; none if `path` is another.
std::optional<std::string_view> SegmentBehind(std::string_view prefix, std::string_view path) {
  if (path.size() <= prefix.size() + 1 || !path.starts_with(prefix) || path[prefix.size()] != '/') {
    return std::nullopt;
  }
  path.remove_prefix(prefix.size() + 1);
  return path.find('/') == std::string_view::npos ? std::optional(path) : std::nullopt;
}

}  // namespace

void Router::Route(const wire::Http1Request& request, Exchange& exchange) {
  if (request.path == "/healthz") {
    if (AllowsGet(request, exchange)) {
      HandleHealth(exchange);
    }
    return;
  }
  if (request.path == "/readyz") {
    if (AllowsGet(request, exchange)) {
      HandleReadiness(readiness_, exchange);
    }
    return;
  }
  if (!Admits(request, exchange)) {
    return;
  }
  if (settings_.role == Role::kMetrics) {
    RouteMetrics(request, exchange);
    return;
  }
  if (request.path == "/openapi.json") {
    if (AllowsGet(request, exchange)) {
      exchange.AnswerText(200, "application/json", kOpenApi);
    }
    return;
  }
  if (request.path == kBatchPath && settings_.role == Role::kCheck) {
    if (AllowsPost(request, exchange)) {
      HandleBatch(request, service_, exchange);
    }
    return;
  }
  if (!Fits(request, exchange)) {
    return;
  }
  if (settings_.envoy != nullptr && RouteEnvoy(request, *settings_.envoy, exchange)) {
    return;
  }
  if (settings_.role == Role::kCheck) {
    RouteCheck(request, exchange);
  } else {
    RouteAdmin(request, exchange);
  }
}

void Router::RouteCheck(const wire::Http1Request& request, Exchange& exchange) const {
  if (request.path == kCheckPath) {
    if (AllowsPost(request, exchange)) {
      HandleCheck(request, settings_.memory, service_, exchange);
    }
    return;
  }
  if (request.path == kReleasePath || request.path == kRenewPath) {
    if (AllowsPost(request, exchange)) {
      HandleHolds(request, request.path == kRenewPath, service_, exchange);
    }
    return;
  }
  if (request.path.starts_with(kProxyPath)) {
    const std::string_view suffix = request.path.substr(kProxyPath.size());
    if (suffix.empty() || suffix.front() == '/') {
      HandleProxyCheck(request, suffix, settings_.proxy, exchange);
      return;
    }
  }
  if (request.path == kSettlePath || request.path == kRefundPath) {
    if (AllowsPost(request, exchange)) {
      (request.path == kSettlePath ? HandleSettle : HandleReceipt)(request, service_, exchange);
    }
    return;
  }
  const auto user_id = SegmentBehind(kStatusPath, request.path);
  if (user_id || request.path == kStatusPath) {
    if (AllowsGet(request, exchange)) {
      HandleStatus(request, user_id, exchange);
    }
    return;
  }
  NotFound(
      "paths here: /v1/ratelimit/check, /v1/ratelimit/batch, /v1/ratelimit/release, "
      "/v1/ratelimit/renew, /v1/ratelimit/settle, /v1/ratelimit/refund, "
      "/v1/ratelimit/status/{user_id}, /v1/check/http, /openapi.json, /healthz, /readyz",
      exchange);
}

void Router::RouteMetrics(const wire::Http1Request& request, Exchange& exchange) const {
  if (request.path != settings_.metrics_path) {
    NotFound("this listener has metrics alone, and /healthz, /readyz", exchange);
  } else if (AllowsGet(request, exchange)) {
    HandleMetrics(registry_, exchange);
  }
}

void Router::RouteAdmin(const wire::Http1Request& request, Exchange& exchange) const {
  if (request.path == "/metrics") {
    if (AllowsGet(request, exchange)) {
      HandleMetrics(registry_, exchange);
    }
    return;
  }
  if (request.path == kBansPath) {
    if (AllowsGet(request, exchange)) {
      HandleBans(service_, exchange);
    }
    return;
  }
  if (request.path == kUnbanPath) {
    if (AllowsPost(request, exchange)) {
      HandleUnban(request, service_, exchange);
    }
    return;
  }
  if (settings_.desk != nullptr && RouteDesk(request, *settings_.desk, exchange)) {
    return;
  }
  NotFound(
      "paths on the admin listener: /metrics, /healthz, /readyz, /openapi.json, "
      "/v1/ratelimit/config, /v1/ratelimit/bans, /v1/ratelimit/unban, "
      "/v1/ratelimit/mode/{rule_id}, /v1/ratelimit/kill-switch, "
      "/v1/ratelimit/shadow-report, /v1/ratelimit/reset, "
      "/v1/ratelimit/refund",
      exchange);
}

// Rule ids have nothing to encode in a path, and one that is encoded all the same is none.
bool Router::RouteDesk(const wire::Http1Request& request, const AdminDesk& desk,
                       Exchange& exchange) {
  using enum wire::HttpMethod;
  if (request.path == kConfigPath) {
    if (AllowsGet(request, exchange)) {
      HandleRules(desk, exchange);
    }
  } else if (const auto rule = SegmentBehind(kConfigPath, request.path); rule) {
    if (Allows(request, {kGet, kHead, kPut, kDelete}, "GET, HEAD, PUT, DELETE", exchange)) {
      HandleRule(request, *rule, desk, exchange);
    }
  } else if (const auto of = SegmentBehind(kModePath, request.path); of) {
    if (Allows(request, {kGet, kHead, kPut, kDelete}, "GET, HEAD, PUT, DELETE", exchange)) {
      HandleMode(request, *of, desk, exchange);
    }
  } else if (request.path == kKillSwitchPath) {
    if (Allows(request, {kGet, kHead, kPut}, "GET, HEAD, PUT", exchange)) {
      HandleKillSwitch(request, desk, exchange);
    }
  } else if (request.path == kShadowReportPath) {
    if (AllowsGet(request, exchange)) {
      HandleShadowReport(desk, exchange);
    }
  } else if (request.path == kResetPath) {
    if (AllowsPost(request, exchange)) {
      HandleReset(request, desk.service, exchange);
    }
  } else if (request.path == kRefundPath) {
    if (AllowsPost(request, exchange)) {
      HandleRefund(request, desk.service, exchange);
    }
  } else {
    return false;
  }
  return true;
}

bool Router::RouteEnvoy(const wire::Http1Request& request, const EnvoyDesk& desk,
                        Exchange& exchange) const {
  if (settings_.role == Role::kAdmin) {
    if (request.path == "/rlconfig" || request.path == "/stats" || request.path == "/") {
      if (AllowsGet(request, exchange)) {
        (request.path == "/stats"      ? HandleStats
         : request.path == "/rlconfig" ? HandleLimits
                                       : HandleDebugPaths)(desk, exchange);
      }
    } else if (request.path == "/rlusage" || request.path == "/rlreset") {
      if (AllowsPost(request, exchange)) {
        HandleUsage(request, request.path == "/rlreset", desk, exchange);
      }
    } else {
      return false;
    }
  } else if (request.path == "/json") {
    HandleRateLimitJson(request, desk, exchange);
  } else if (request.path == "/healthcheck") {
    if (AllowsGet(request, exchange)) {
      HandleEnvoyHealth(desk, exchange);
    }
  } else {
    return false;
  }
  return true;
}

bool Router::Admits(const wire::Http1Request& request, Exchange& exchange) {
  if (!token_.asks()) {
    return true;
  }
  constexpr std::string_view kScheme = "Bearer ";
  const std::string_view given = request.Field("Authorization");
  const bool shown = wire::EqualsIgnoreCase(given.substr(0, kScheme.size()), kScheme);
  if (shown && token_.Admits(given.substr(kScheme.size()))) {
    return true;
  }
  exchange.AnswerProblem({.status = 401,
                          .title = {},
                          .detail = "this listener wants Authorization: Bearer and its token",
                          .code = {}});
  exchange.AddField("WWW-Authenticate", shown ? "Bearer error=\"invalid_token\"" : "Bearer");
  return false;
}

}  // namespace sluice::frontend::http
