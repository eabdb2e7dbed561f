#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sluice/time.h"

#include "frontend/access_token.h"
#include "frontend/answer_counts.h"
#include "frontend/answer_log.h"
#include "frontend/http/browser_guard.h"
#include "frontend/http/client_address.h"
#include "frontend/http/limit_headers.h"
#include "wire/http1_parser.h"
#include "wire/path_normalizer.h"

namespace sluice::idempotency {
class AnswerMemory;
}  // namespace sluice::idempotency

namespace sluice::signing {
class Keyring;
}  // namespace sluice::signing

namespace sluice::frontend::http {

struct AdminContext;
struct EnvoyContext;

// Attributes that every request of a proxy has.
inline constexpr std::array<std::string_view, 4> kProxiedAttributes{"method", "endpoint", "host",
                                                                    "ip"};

// Proxy header fields from peers that are not trusted proxies. Any thread.
struct ForwardingNotes {
  std::atomic<std::uint64_t> untrusted{0};
  // Called with the address of the first one, once for all front ends. Any thread; may be empty.
  std::function<void(std::string_view peer)> on_first;
};

// Which header fields say what a proxy was asked. One family counts: a proxy that writes one passes
// on what its client wrote into the other.
enum class RequestFields : std::uint8_t {
  kEither,      // The family that is there; a request with both is refused.
  kXOriginal,   // X-Original-Method, X-Original-URI: as NGINX is configured to write them.
  kXForwarded,  // X-Forwarded-Method, X-Forwarded-Uri: Caddy and Traefik.
};

// How a listener reads the requests of proxies, which describe their clients' requests.
struct ProxySettings {
  ForwardingSettings forwarding;
  RequestFields request_fields = RequestFields::kEither;
  // How the path of a request becomes `endpoint`.
  wire::PathSettings paths;
  // Attributes from header fields: {"api_key", "X-Api-Key"}. An absent field is no attribute. The
  // client writes such a field, unless the proxy overwrites or removes it.
  std::vector<std::pair<std::string, std::string>> headers;
  // The same for fields that count only from a peer in forwarding.trusted. From other peers they
  // are no attribute.
  std::vector<std::pair<std::string, std::string>> trusted_headers;
  // Origins of browsers' scripts that may read a denial ("https://app.example"; "*": all), and
  // whose preflights pass unasked.
  std::vector<std::string> cors_origins;
  ForwardingNotes* notes = nullptr;  // Outlives the front end.
};

// The role of a listener. All of them serve health.
enum class Role : std::uint8_t {
  kCheck,    // Applications and proxies: check and status.
  kAdmin,    // Operators: metrics, rules, modes.
  kMetrics,  // Collectors of metrics, which may do nothing else.
};

// The bounds of one listener. Each protects the memory and file descriptors of all clients from one
// that is malicious or slow.
struct FrontEndSettings {
  Role role = Role::kCheck;
  std::string name;  // Of the listener, in records: its address.
  const AccessToken* token =
      nullptr;  // Required by all but health; none: not required. Outlives the front end.
  // For Envoy's paths: see route.h. None: there are no such paths.
  const EnvoyContext* envoy = nullptr;
  const AdminContext* context = nullptr;  // For an admin listener: see route.h. None: only metrics.
  bool console = false;                   // An admin listener serves the console.
  // For an admin listener: the names that a Host field may have.
  HostNames host_names{};
  std::string metrics_path = "/metrics";  // Of kMetrics.
  ProxySettings proxy{};
  std::uint8_t limit_headers = kDefaultLimitFields;
  LoopAnswers* answers =
      nullptr;               // Where answers are counted, if anywhere. Outlives the front end.
  AnswerLog* log = nullptr;  // Logs refusals of requests. Outlives the front end.
  // By which holds, receipts and reservations are sealed. None: none are given out or taken.
  const signing::Keyring* keys = nullptr;
  idempotency::AnswerMemory* memory =
      nullptr;  // For checks with an Idempotency-Key. None: keys are ignored.
  wire::Http1Limits request{.body_bytes = 256 * 1024};  // Of a batch; else 64 KiB.
  std::size_t pipeline = 256;                           // Unanswered requests of one connection.
  std::size_t output_bytes = 256 * 1024;                // Unwritten answers of one connection.
  Duration header_timeout = std::chrono::seconds(10);   // From a header's first byte to its last.
  Duration body_timeout = std::chrono::seconds(20);     // From there to the body's last byte.
  Duration idle_timeout = std::chrono::seconds(75);     // Between requests.
  // How long a client may take to read an answer.
  Duration write_timeout = std::chrono::seconds(20);
  Duration linger = std::chrono::seconds(1);  // After the last answer, for its end.
  // A client that does not know yet that we stop may be about to send its next request, and
  // a connection closed under it would lose that: what comes within this time is answered.
  Duration drain_grace = std::chrono::milliseconds(500);
  // A request with "wait": true is not held longer than this.
  Duration longest_wait = std::chrono::seconds(60);
};

}  // namespace sluice::frontend::http
