#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "frontend/http/exchange.h"
#include "frontend/http/front_end_settings.h"
#include "frontend/http/openapi.h"
#include "frontend/http/route.h"
#include "service/limiter_service.h"
#include "telemetry/registry.h"
#include "wire/http_request.h"

namespace sluice::frontend::http {

// Hands each request of one listener to the handler of its route (routes.cc). Another method of a
// path is answered 405 with Allow, another path 404, a body that is too long 413. With a token set,
// all but health needs `Authorization: Bearer <token>`, else 401.
//
// A request that a browser sends from a page of another site is 403, except for proxies' questions,
// which have their client's fields. So is a request to an admin listener without a token whose Host
// field does not name the listener. A body that is not JSON is 415 there. See browser_guard.h.
//
// What it refers to outlives it. One thread.
class Router {
 public:
  Router(const FrontEndSettings& settings, service::LimiterService& service,
         const Readiness& readiness, const telemetry::Registry& registry);
  Router(const Router&) = delete;
  Router& operator=(const Router&) = delete;

  // Leaves `exchange` answered, or ready to be submitted.
  void Route(const wire::HttpRequest& request, Exchange& exchange);

 private:
  // The route of `path`; none.
  [[nodiscard]] const ServedRoute* Find(std::string_view path, std::string_view& tail) const;
  // Answers 401 unless the request shows the token, where one is asked for.
  [[nodiscard]] bool Admits(const wire::HttpRequest& request, Exchange& exchange);

  // Whether a web page of any site may send it: a request that changes nothing, or a proxy's
  // question.
  [[nodiscard]] bool IsOpenToPages(const wire::HttpRequest& request) const;
  // Answers 403 to a request that a web page of another site may have sent.
  [[nodiscard]] bool KeepsPagesOut(const wire::HttpRequest& request, Exchange& exchange) const;

  const std::vector<ServedRoute> routes_;
  const std::string not_found_;  // The detail of a 404.
  TokenCheck token_;
  ListenerDescription description_;
  const Backend backend_;
};

}  // namespace sluice::frontend::http
