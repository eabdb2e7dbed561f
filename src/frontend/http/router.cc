#include "frontend/http/router.h"

#include "frontend/http/browser_guard.h"
#include "wire/ascii.h"

namespace sluice::frontend::http {

namespace {

std::string ListPaths(const std::vector<ServedRoute>& routes) {
  std::string text = "this listener serves ";
  for (const ServedRoute& served : routes) {
    text.append(&served == routes.data() ? "" : ", ").append(served.path);
  }
  return text;
}

void AnswerNotAllowed(const Methods& methods, Exchange& exchange) {
  const std::string allow = methods.Text();
  exchange.AnswerProblem(
      {.status = 405, .title = {}, .detail = "this path takes " + allow, .code = {}});
  exchange.response.Add("Allow", allow);
}

}  // namespace

Router::Router(const FrontEndSettings& settings, service::LimiterService& service,
               const Readiness& readiness, const telemetry::Registry& registry)
    : routes_(RoutesOf(settings)),
      not_found_(ListPaths(routes_)),
      token_(settings.token),
      description_(routes_, settings.role, settings.token != nullptr),
      backend_{.settings = settings,
               .service = service,
               .readiness = readiness,
               .registry = registry,
               .description = description_} {}

void Router::Route(const wire::HttpRequest& request, Exchange& exchange) {
  std::string_view tail;
  const ServedRoute* const served = Find(request.path, tail);
  // An unknown path is 401 too: without the token a client does not learn which paths exist.
  if ((served == nullptr || !served->route->open) &&
      (!Admits(request, exchange) || !KeepsPagesOut(request, exchange))) {
    return;
  }
  if (served == nullptr) {
    exchange.AnswerProblem({.status = 404, .title = {}, .detail = not_found_, .code = {}});
  } else if (!served->route->methods.Has(request.method)) {
    AnswerNotAllowed(served->route->methods, exchange);
  } else if (request.body.size() > served->route->body_bytes) {
    exchange.AnswerProblem(
        {.status = 413, .title = {}, .detail = "the body is too large", .code = {}});
  } else if (backend_.settings.role == Role::kAdmin && !request.body.empty() &&
             !HasJsonType(request)) {
    exchange.AnswerProblem({.status = 415,
                            .title = {},
                            .detail = "send the body with Content-Type: application/json",
                            .code = {}});
    exchange.response.Add("Accept", "application/json");
  } else {
    served->route->handle({.request = request, .tail = tail, .at = backend_, .exchange = exchange});
  }
}

const ServedRoute* Router::Find(std::string_view path, std::string_view& tail) const {
  for (const ServedRoute& served : routes_) {
    if (served.Matches(path, tail)) {
      return &served;
    }
  }
  return nullptr;
}

bool Router::Admits(const wire::HttpRequest& request, Exchange& exchange) {
  if (!token_.asks()) {
    return true;
  }
  constexpr std::string_view kScheme = "Bearer ";
  const std::string_view given = request.Field("Authorization");
  const bool shown = wire::EqualsIgnoreCase(given.substr(0, kScheme.size()), kScheme) &&
                     !request.HasSeveral("Authorization");
  if (shown && token_.Admits(given.substr(kScheme.size()))) {
    return true;
  }
  exchange.AnswerProblem(
      {.status = 401,
       .title = {},
       .detail = "this listener requires a token: send Authorization: Bearer TOKEN",
       .code = {}});
  exchange.response.Add("WWW-Authenticate", shown ? "Bearer error=\"invalid_token\"" : "Bearer");
  return false;
}

bool Router::IsOpenToPages(const wire::HttpRequest& request) const {
  using enum wire::HttpMethod;
  const bool writes = request.method == kPost || request.method == kPut ||
                      request.method == kPatch || request.method == kDelete;
  // A proxy's question has its client's fields.
  const bool is_proxys = request.path.starts_with("/v1/check/http");
  return backend_.settings.role == Role::kCheck && (!writes || is_proxys);
}

bool Router::KeepsPagesOut(const wire::HttpRequest& request, Exchange& exchange) const {
  const auto forbid = [&exchange](std::string_view detail) {
    exchange.AnswerProblem({.status = 403, .title = {}, .detail = detail, .code = {}});
    return false;
  };
  if (IsFromForeignPage(request) && !IsOpenToPages(request)) {
    return forbid("the request comes from a web page of another site");
  }
  // A web page cannot show the token, and a client that can needs no further proof.
  if (backend_.settings.role == Role::kAdmin && !token_.asks() &&
      (request.HasSeveral("Host") ||
       !NamesListener(request.Field("Host"), backend_.settings.host_names))) {
    return forbid(
        "the Host header does not name this listener: use its address, or add the name to the "
        "listener's hosts: [...]");
  }
  return true;
}

}  // namespace sluice::frontend::http
