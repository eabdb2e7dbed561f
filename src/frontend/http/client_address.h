#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rules/ip_address.h"
#include "wire/http_request.h"

namespace sluice::frontend::http {

// Which peers may say who their client is.
struct ForwardingSettings {
  // Proxies that may state the address of their client. By default this host's.
  std::vector<rules::IpPrefix> trusted = {*rules::IpPrefix::Parse("127.0.0.0/8"),
                                          *rules::IpPrefix::Parse("::1")};
  // The one field that they use for it: X-Forwarded-For, X-Real-IP, Forwarded (RFC 7239). Never
  // two: a proxy that sets one passes the other on unchanged.
  std::string header = "X-Forwarded-For";
};

struct ClientAddress {
  std::optional<rules::IpAddress> address;  // None: the peer's own address is none.
  bool peer_is_trusted = false;             // The peer is one of the proxies in `trusted`.
  bool untrusted = false;  // The field came from a peer that is no trusted proxy; it was ignored.
};

// The client behind the proxies. It is `peer` (the other end of the connection) unless that is a
// trusted proxy. Otherwise it is the first hop of the field, from right to left, that is no trusted
// proxy. The search ends at a hop that is no address; the last one before it then counts. If all
// hops are trusted, the leftmost counts. Never simply the leftmost: a client can write that one.
[[nodiscard]] ClientAddress FindClientAddress(const wire::HttpRequest& request,
                                              std::string_view peer,
                                              const ForwardingSettings& settings);

}  // namespace sluice::frontend::http
