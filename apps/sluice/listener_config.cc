#include "listener_config.h"

#include <array>

#include "config_fields.h"
#include "credentials.h"
#include "net/listener.h"
#include "proxy_config.h"
#include "rules/value_reader.h"

namespace sluice::app {

namespace {

using rules::Reporter;
using rules::YamlNode;

constexpr std::array<std::string_view, 8> kListenerFields{
    "address", "protocol", "role", "hosts", "tls", "auth", "proxy", "limit_headers"};
constexpr std::array<std::string_view, 4> kAuthFields{"token", "token_file", "password",
                                                      "password_file"};
constexpr std::array<std::string_view, 4> kTlsFields{"cert", "key", "client_ca", "client_name"};

constexpr std::array<std::string_view, 3> kProtocols{"http", "grpc", "resp"};
constexpr std::array<std::string_view, 3> kRoles{"check", "admin", "metrics"};

constexpr std::string_view kDefaultHttp = "127.0.0.1:8080";
constexpr std::string_view kDefaultGrpc = "127.0.0.1:8081";
constexpr std::string_view kDefaultResp = "127.0.0.1:6380";
constexpr std::string_view kDefaultAdmin = "127.0.0.1:6070";

// What the files hold is tried here, so that what is wrong shows with its place in the
// configuration, and to `sluice validate`.
std::optional<TlsConfig> ReadTls(const YamlNode& node, const std::filesystem::path& folder,
                                 Reporter& report) {
  TlsConfig tls;
  bool sound = true;
  EachField(node, "tls", kTlsFields, report, [&](std::string_view field, const YamlNode& value) {
    const auto text = rules::ReadText(value, field, report);
    if (!text || text->empty()) {
      sound = false;
      return;
    }
    if (field == "client_name") {
      tls.client_name = *text;
      return;
    }
    std::string& path = field == "cert" ? tls.cert : field == "key" ? tls.key : tls.client_ca;
    path = (folder / *text).string();
  });
  if (tls.cert.empty() || tls.key.empty()) {
    report.Fail(node, "tls needs cert and key: write tls: {cert: FILE, key: FILE}");
  } else if (!tls.client_name.empty() && tls.client_ca.empty()) {
    report.Fail(node, "client_name needs client_ca, without which clients send no certificate");
  } else if (sound) {
    if (const auto loaded = LoadTls(tls); !loaded) {
      report.Fail(node, loaded.error().Text());
    }
  }
  return tls;
}

// The secret of an `auth`: HTTP knows it as a token, Redis clients as a password. Reports an `auth`
// without one: taken for none, it would open the door it should close.
void ReadAuth(const YamlNode& auth, const std::filesystem::path& folder, Reporter& report,
              ListenerConfig& listener) {
  std::size_t given = 0;
  EachField(auth, "auth", kAuthFields, report, [&](std::string_view field, const YamlNode& value) {
    const auto text = rules::ReadText(value, field, report);
    if (++given == 2) {
      report.Fail(value,
                  "auth has two of token, token_file, password and password_file: keep only one");
    }
    if (!text) {
      return;
    }
    if (field == "token" || field == "password") {
      listener.token = *text;
      if (const std::string_view fault = FaultOfToken(*text); !fault.empty()) {
        report.Fail(value, std::string(fault));
      }
      return;
    }
    listener.token_file = (folder / *text).string();
    if (auto read = LoadToken(listener.token_file); read) {
      listener.token = *std::move(read);
    } else {
      report.Fail(value, read.error().Text());
    }
  });
  if (given == 0) {
    report.Fail(auth,
                "auth has no secret: write auth: {token_file: ...}, or for a resp listener auth: "
                "{password_file: ...}");
  }
}

}  // namespace

std::optional<std::string_view> UnixPathOf(std::string_view address) {
  constexpr std::string_view kScheme = "unix:";
  return address.starts_with(kScheme) ? std::optional(address.substr(kScheme.size()))
                                      : std::nullopt;
}

std::vector<ListenerConfig> DefaultListeners() {
  return {
      {.address = std::string(kDefaultHttp), .tls = {}, .token = {}},
      {.address = std::string(kDefaultGrpc), .protocol = Protocol::kGrpc, .tls = {}, .token = {}},
      {.address = std::string(kDefaultResp), .protocol = Protocol::kResp, .tls = {}, .token = {}},
      {.address = std::string(kDefaultAdmin),
       .role = frontend::http::Role::kAdmin,
       .tls = {},
       .token = {}}};
}

ListenerConfig ReadListener(const YamlNode& node, const std::filesystem::path& folder,
                            Reporter& report) {
  ListenerConfig listener;
  bool has_auth = false;
  EachField(node, "a listener", kListenerFields, report,
            [&](std::string_view field, const YamlNode& value) {
              if (field == "address") {
                listener.address = rules::ReadText(value, field, report).value_or("");
                const auto parsed = net::ParseAddress(listener.address);
                if (!parsed && !UnixPathOf(listener.address)) {
                  report.Fail(value, parsed.error().message);
                }
              } else if (field == "protocol") {
                const std::size_t word =
                    rules::ReadWord(value, field, kProtocols, report).value_or(0);
                listener.protocol = static_cast<Protocol>(word);  // In the order of the words.
              } else if (field == "role") {
                listener.role = static_cast<frontend::http::Role>(
                    rules::ReadWord(value, field, kRoles, report).value_or(0));
              } else if (field == "hosts") {
                EachItem(value, field, report, [&](const YamlNode& item) {
                  if (const auto host = rules::ReadText(item, field, report)) {
                    listener.hosts.push_back(*host);
                  }
                });
              } else if (field == "tls") {
                listener.tls = ReadTls(value, folder, report);
              } else if (field == "proxy") {
                listener.has_proxies = true;
                ReadProxy(value, report, listener.proxy);
              } else if (field == "limit_headers") {
                listener.limit_headers = ReadLimitHeaders(value, report);
              } else {
                has_auth = true;
                ReadAuth(value, folder, report, listener);
              }
            });
  const bool admin = listener.role == frontend::http::Role::kAdmin;
  const bool resp = listener.protocol == Protocol::kResp;
  const bool grpc = listener.protocol == Protocol::kGrpc;
  const bool check = listener.role == frontend::http::Role::kCheck;
  if (grpc && !check) {
    report.Fail(node, admin ? "a grpc listener cannot have the role admin: leave role out"
                            : "a grpc listener cannot have the role metrics: leave role out");
  }
  if (resp && listener.role == frontend::http::Role::kMetrics) {
    report.Fail(node, "a resp listener cannot have the role metrics: leave role out");
  }
  if (resp && admin) {
    report.Fail(node,
                "a resp listener cannot have the role admin: leave role out; SLUICE.RESET and "
                "SLUICE.REFUND are for clients that authenticate or are on this host");
  }
  if (UnixPathOf(listener.address) && !grpc) {
    report.Fail(node,
                "only a grpc listener can use a Unix socket: write protocol: grpc, or HOST:PORT");
  }
  if (listener.address.empty() && !resp && !grpc && !check && !admin) {
    report.Fail(node, "a metrics listener needs an address: write address: HOST:PORT");
  }
  if (listener.address.empty()) {
    listener.address = std::string(resp    ? kDefaultResp
                                   : grpc  ? kDefaultGrpc
                                   : admin ? kDefaultAdmin
                                           : kDefaultHttp);
  }
  if (listener.has_proxies && (resp || !check)) {
    report.Fail(node, "proxy is only for http listeners with the role check: leave it out");
  }
  if (!listener.hosts.empty() && !admin) {
    report.Fail(node, "hosts is for a listener with role: admin");
  }
  const auto endpoint = net::ParseAddress(listener.address);
  const bool knows_clients = has_auth || (listener.tls && !listener.tls->client_ca.empty());
  if (admin && !knows_clients && endpoint && !endpoint->address().is_loopback()) {
    report.Fail(node,
                "an admin listener on a non-loopback address needs auth: {token_file: ...}, or "
                "client certificates, tls: {..., client_ca: ...}");
  }
  return listener;
}

}  // namespace sluice::app
