#pragma once

#include <string_view>

#include "frontend/http/exchange.h"
#include "frontend/http/proxy_settings.h"
#include "wire/http_request.h"

namespace sluice::frontend::http {

// GET, HEAD, POST ... /v1/check/http: a proxy's question about a request of its own (NGINX's
// auth_request, Caddy's forward_auth, Traefik's forwardAuth, Envoy's ext_authz, which puts the
// original path behind ours). Attributes of that request:
//
//   method    X-Original-Method or X-Forwarded-Method, else the method of this request
//   endpoint  the path of X-Original-URI or X-Forwarded-Uri: see settings.paths
//   host      X-Forwarded-Host, else Host; without its port
//   ip        the client's address: see FindClientAddress()
//   settings.headers, settings.trusted_headers, and, where nothing follows our path, the members of
//   the query but deny_status=429|403 (429) and cost=N (1)
//
// A field that is there twice, a path that has no normal form and an attribute that is no UTF-8 or
// too long refuse the request. What only the proxy's configuration can cause is 500: an unreadable
// query, one that is the client's own, both families of fields.
//
// Where something follows our path, it is the endpoint, and method and host are those of this
// request: its client may have written any field. settings.request_fields says which family counts.
//
// Else the answer is 200 with an empty body, or deny_status, whatever the reason: proxies treat
// other statuses as an outage. `suffix` is what followed our path: "" or "/...".
void HandleProxyCheck(const wire::HttpRequest& request, std::string_view suffix,
                      const ProxySettings& settings, Exchange& exchange);

}  // namespace sluice::frontend::http
