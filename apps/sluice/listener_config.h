#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/answer_counts.h"
#include "frontend/http/front_end_settings.h"
#include "frontend/http/limit_headers.h"
#include "rules/findings.h"
#include "yaml/tree.h"

namespace sluice::app {

// PEM files of one listener's side of TLS.
struct TlsConfig {
  std::string cert;
  std::string key;
  std::string client_ca;      // "": clients need no certificate.
  std::string client_name{};  // That it must be a certificate of; "": any that client_ca signed.
};

using frontend::Protocol;

struct ListenerConfig {
  std::string address;  // "127.0.0.1:8080"; of grpc also "unix:/run/sluice.sock".
  Protocol protocol = Protocol::kHttp;
  frontend::http::Role role = frontend::http::Role::kCheck;  // grpc, resp: kCheck.
  std::optional<TlsConfig> tls;
  std::string token;         // http, grpc: the bearer token; resp: the password. "" asks for none.
  std::string token_file{};  // Where it was read, to be followed; "": nowhere.
  std::string metrics_path = "/metrics";  // Of the role metrics.
  std::vector<std::string> hosts{};       // http, admin: further names of it in a Host field.
  bool console = false;                   // http, admin: it serves the console.
  bool has_proxies = false;               // It has a section `proxy`.
  frontend::http::ProxySettings proxy{};  // Of http. Its `notes` stay unset.
  std::uint8_t limit_headers = frontend::http::kDefaultLimitFields;  // Of http: LimitFields.
};

// The path of "unix:PATH"; nullopt for any other address.
[[nodiscard]] std::optional<std::string_view> UnixPathOf(std::string_view address);

// The default address of a daemon: a front end of each protocol, and one for admins, on loopback.
[[nodiscard]] std::vector<ListenerConfig> DefaultListeners();

// Reads one of `listeners`. Paths begin at `folder`. What is wrong is reported with place and
// remedy; files that it names are read to find out.
[[nodiscard]] ListenerConfig ReadListener(const yaml::Node& node,
                                          const std::filesystem::path& folder,
                                          rules::Reporter& report);

// Reads a listener's `proxy` (proxy_config.cc). What it does not name keeps its value; what is
// wrong is reported with place and remedy.
void ReadProxy(const yaml::Node& node, rules::Reporter& report,
               frontend::http::ProxySettings& proxy);

// Reads a listener's `limit_headers`: the groups of fields that its words stand for.
[[nodiscard]] std::uint8_t ReadLimitHeaders(const yaml::Node& list, rules::Reporter& report);

// The listener by whose settings a path is read where none is asked: of those for proxies the first
// with strict paths, else the first; nullptr if none is for proxies.
[[nodiscard]] const ListenerConfig* ListenerOfProxies(const std::vector<ListenerConfig>& listeners);

}  // namespace sluice::app
