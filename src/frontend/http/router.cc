#include "frontend/http/router.h"

#include <optional>

#include "frontend/http/admin_handler.h"
#include "frontend/http/check_handler.h"
#include "frontend/http/problem.h"
#include "frontend/http/status_handler.h"
#include "frontend/secret.h"

namespace sluice::frontend::http {

namespace {

constexpr std::string_view kCheckPath = "/v1/ratelimit/check";
constexpr std::string_view kStatusPath = "/v1/ratelimit/status";

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

void NotFound(std::string_view detail, Exchange& exchange) {
  exchange.AnswerProblem({.status = 404, .title = {}, .detail = detail, .code = {}});
}

// The segment behind the status path, still encoded; none if `path` is another.
std::optional<std::string_view> StatusSegment(std::string_view path) {
  if (path.size() <= kStatusPath.size() + 1 || !path.starts_with(kStatusPath) ||
      path[kStatusPath.size()] != '/') {
    return std::nullopt;
  }
  path.remove_prefix(kStatusPath.size() + 1);
  return path.find('/') == std::string_view::npos ? std::optional(path) : std::nullopt;
}

}  // namespace

void Router::Route(const wire::Http1Request& request, Exchange& exchange) const {
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
  if (!Authorized(request)) {
    exchange.AnswerProblem({.status = 401,
                            .title = {},
                            .detail = "this listener wants Authorization: Bearer and its token",
                            .code = {}});
    exchange.AddField("WWW-Authenticate", "Bearer");
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
      HandleCheck(request, exchange);
    }
    return;
  }
  const auto user_id = StatusSegment(request.path);
  if (user_id || request.path == kStatusPath) {
    if (AllowsGet(request, exchange)) {
      HandleStatus(request, user_id, exchange);
    }
    return;
  }
  NotFound("paths here: /v1/ratelimit/check, /v1/ratelimit/status/{user_id}, /healthz, /readyz",
           exchange);
}

void Router::RouteAdmin(const wire::Http1Request& request, Exchange& exchange) const {
  if (request.path == "/metrics") {
    if (AllowsGet(request, exchange)) {
      HandleMetrics(registry_, exchange);
    }
    return;
  }
  NotFound("paths on the admin listener: /metrics, /healthz, /readyz", exchange);
}

bool Router::Authorized(const wire::Http1Request& request) const {
  if (settings_.token.empty()) {
    return true;
  }
  constexpr std::string_view kScheme = "Bearer ";
  const std::string_view given = request.Field("Authorization");
  return given.starts_with(kScheme) && IsSecret(given.substr(kScheme.size()), settings_.token);
}

}  // namespace sluice::frontend::http
