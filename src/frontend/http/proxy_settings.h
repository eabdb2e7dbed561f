#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "frontend/http/client_address.h"
#include "wire/path_normalizer.h"

namespace sluice::frontend::http {

// Attributes that are known of every request of a proxy, whatever the settings.
inline constexpr std::array<std::string_view, 4> kProxiedAttributes{"method", "endpoint", "host",
                                                                    "ip"};

// What proxies' fields came from peers that are none. Any thread.
struct ForwardingNotes {
  std::atomic<std::uint64_t> untrusted{0};
  // Told of the first one, once for all front ends: its address. Any thread; may be empty.
  std::function<void(std::string_view peer)> on_first;
};

// Which header fields say what a proxy was asked. One family counts: a proxy that writes one passes
// on what its client wrote into the other.
enum class RequestFields : std::uint8_t {
  kEither,      // The family that is there; a request with both is refused.
  kXOriginal,   // X-Original-Method, X-Original-URI: as NGINX is configured to write them.
  kXForwarded,  // X-Forwarded-Method, X-Forwarded-Uri: Caddy and Traefik.
};

// How a listener reads the requests of proxies that ask about theirs.
struct ProxySettings {
  ForwardingSettings forwarding;
  RequestFields request_fields = RequestFields::kEither;
  // How the path of a request becomes `endpoint`.
  wire::PathSettings paths;
  // Attributes out of header fields: {"api_key", "X-Api-Key"}. An absent field is no attribute. The
  // client writes such a field, unless the proxy overwrites or removes it.
  std::vector<std::pair<std::string, std::string>> headers;
  // The same of fields that count only from a peer in forwarding.trusted. From others they are no
  // attribute.
  std::vector<std::pair<std::string, std::string>> trusted_headers;
  // Origins of browsers' scripts that may read a denial ("https://app.example"; "*": all), and
  // whose preflights pass unasked.
  std::vector<std::string> cors_origins;
  ForwardingNotes* notes = nullptr;  // Outlives the front end.
};

}  // namespace sluice::frontend::http
