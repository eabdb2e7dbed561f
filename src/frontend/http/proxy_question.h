#pragma once

#include <string_view>

#include "frontend/http/client_address.h"
#include "frontend/http/front_end_settings.h"
#include "wire/form_query.h"
#include "wire/http_request.h"

// A proxy's auth request, and what is known of the client's request. Attributes:
//
//   method    X-Original-Method or X-Forwarded-Method, else the method of this request
//   endpoint  the path of X-Original-URI or X-Forwarded-Uri: see ProxySettings::paths
//   host      X-Forwarded-Host, else Host; without its port
//   ip        the client's address: see FindClientAddress()
//   ProxySettings::headers, trusted_headers, and, where nothing follows our path, the members of
//   the query but deny_status=429|403 (429) and cost=N (1)
//
// A field that is there twice, a path that has no normal form and an attribute that is no UTF-8 or
// too long refuse the request. What only the proxy's configuration can cause is 500: an unreadable
// query, one that is the client's own, both families of fields.
//
// Where something follows our path, it is the endpoint, and method and host are those of this
// request: its client may have written any field. ProxySettings::request_fields says which family
// counts.
namespace sluice::frontend::http {

// Reads header fields that may occur only once. A second field may be the client's, if the proxy
// adds its own and does not overwrite.
class SingleFields {
 public:
  explicit SingleFields(const wire::HttpRequest& request) : request_(request) {}

  [[nodiscard]] std::string_view Get(std::string_view name);
  // The first field that occurred twice; "" if none.
  [[nodiscard]] std::string_view twice() const { return twice_; }

 private:
  const wire::HttpRequest& request_;
  std::string_view twice_;
};

// The request that a proxy describes.
struct AskedRequest {
  std::string_view method;
  std::string_view uri;
  std::string_view host;
  bool both_families = false;  // The fields describe two requests.
};

// `suffix` is what followed our path: "" or "/...".
[[nodiscard]] AskedRequest ReadAsked(const wire::HttpRequest& request, std::string_view suffix,
                                     RequestFields families, SingleFields& fields);

// Whether the client wrote the query that we received, or the cost in it: it is the query of the
// described request, alone or beside the proxy's own members (`?zone=api&{query}`).
[[nodiscard]] bool IsClientsQuery(std::string_view query, std::string_view uri);

// Adds all attributes of the described request. Returns "", or the fault.
[[nodiscard]] std::string_view AddAttributes(const AskedRequest& asked, const ClientAddress& client,
                                             const wire::HttpRequest& request,
                                             const ProxySettings& settings, SingleFields& fields,
                                             wire::FormQuery& query);

}  // namespace sluice::frontend::http
