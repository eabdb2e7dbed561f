#include "listener_config.h"

#include <array>

#include "config_fields.h"
#include "config_map.h"
#include "credentials.h"
#include "net/listener.h"
#include "rules/value_reader.h"

namespace sluice::app {

namespace {

using rules::Reporter;

constexpr std::string_view kDefaultHttp = "127.0.0.1:8080";
constexpr std::string_view kDefaultGrpc = "127.0.0.1:8081";
constexpr std::string_view kDefaultResp = "127.0.0.1:6380";
constexpr std::string_view kDefaultAdmin = "127.0.0.1:6070";

// What the files hold is tried here, so that what is wrong shows with its place in the
// configuration, and to `sluice validate`.
std::optional<TlsConfig> ReadTls(const yaml::Node& node, const std::filesystem::path& folder,
                                 Reporter& report) {
  TlsConfig tls;
  bool sound = true;
  const auto text_into = [&](std::string_view field, std::string& into, bool is_path) {
    return FieldReader{field, [&, field, is_path](const yaml::Node& value) {
                         const auto text = rules::ReadText(value, field, report);
                         if (!text || text->empty()) {
                           sound = false;
                         } else {
                           into = is_path ? (folder / *text).string() : *text;
                         }
                       }};
  };
  const auto fields = std::to_array<FieldReader>(
      {text_into("cert", tls.cert, /*is_path=*/true), text_into("key", tls.key, /*is_path=*/true),
       text_into("client_ca", tls.client_ca, /*is_path=*/true),
       text_into("client_name", tls.client_name, /*is_path=*/false)});
  ReadFields(node, kListenerTlsMap, fields, report);
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
// without one: taken for none, it would open the front end it should close.
void ReadAuth(const yaml::Node& auth, const std::filesystem::path& folder, Reporter& report,
              ListenerConfig& listener) {
  std::size_t given = 0;
  const auto read = [&](std::string_view field, const yaml::Node& value) {
    const auto text = rules::ReadText(value, field, report);
    if (++given == 2) {
      report.Fail(value,
                  "auth has two of token, token_file, password and password_file: keep only one");
    }
    return text;
  };
  const auto secret = [&](std::string_view field) {
    return FieldReader{field, [&, field](const yaml::Node& value) {
                         if (const auto text = read(field, value)) {
                           listener.token = *text;
                           if (const std::string_view fault = FaultOfToken(*text); !fault.empty()) {
                             report.Fail(value, std::string(fault));
                           }
                         }
                       }};
  };
  const auto file = [&](std::string_view field) {
    return FieldReader{field, [&, field](const yaml::Node& value) {
                         const auto text = read(field, value);
                         if (!text) {
                           return;
                         }
                         listener.token_file = (folder / *text).string();
                         if (auto token = LoadToken(listener.token_file); token) {
                           listener.token = *std::move(token);
                         } else {
                           report.Fail(value, token.error().Text());
                         }
                       }};
  };
  const auto fields = std::to_array<FieldReader>(
      {secret("token"), file("token_file"), secret("password"), file("password_file")});
  ReadFields(auth, kListenerAuthMap, fields, report);
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

ListenerConfig ReadListener(const yaml::Node& node, const std::filesystem::path& folder,
                            Reporter& report) {
  ListenerConfig listener;
  bool has_auth = false;
  const auto read_address = [&](const yaml::Node& value) {
    listener.address = rules::ReadText(value, "address", report).value_or("");
    const auto parsed = net::ParseAddress(listener.address);
    if (!parsed && !UnixPathOf(listener.address)) {
      report.Fail(value, parsed.error().message);
    }
  };
  const auto read_protocol = [&](const yaml::Node& value) {
    ReadEnum(value, kListenerMap["protocol"], report, listener.protocol);
  };
  const auto read_role = [&](const yaml::Node& value) {
    ReadEnum(value, kListenerMap["role"], report, listener.role);
  };
  const auto read_hosts = [&](const yaml::Node& value) {
    EachItem(value, "hosts", report, [&](const yaml::Node& item) {
      if (const auto host = rules::ReadText(item, "hosts", report)) {
        listener.hosts.push_back(*host);
      }
    });
  };
  const auto read_proxy = [&](const yaml::Node& value) {
    listener.has_proxies = true;
    ReadProxy(value, report, listener.proxy);
  };
  const auto fields = std::to_array<FieldReader>(
      {{"address", read_address},
       {"protocol", read_protocol},
       {"role", read_role},
       {"hosts", read_hosts},
       {"console",
        [&](const yaml::Node& value) {
          listener.console = rules::ReadBool(value, "console", report).value_or(false);
        }},
       {"tls", [&](const yaml::Node& value) { listener.tls = ReadTls(value, folder, report); }},
       {"auth",
        [&](const yaml::Node& value) {
          has_auth = true;
          ReadAuth(value, folder, report, listener);
        }},
       {"proxy", read_proxy},
       {"limit_headers", [&](const yaml::Node& value) {
          listener.limit_headers = ReadLimitHeaders(value, report);
        }}});
  if (node.is_text()) {
    report.Fail(node, "a listener must be a map: write - address: " + node.text);
    return listener;
  }
  ReadFields(node, kListenerMap, fields, report);
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
  if (listener.console && !admin) {
    report.Fail(node, "console belongs to a listener with role: admin");
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

const ListenerConfig* ListenerOfProxies(const std::vector<ListenerConfig>& listeners) {
  const ListenerConfig* first = nullptr;
  for (const ListenerConfig& listener : listeners) {
    if (listener.has_proxies && listener.proxy.paths.strict) {
      return &listener;
    }
    first = first == nullptr && listener.has_proxies ? &listener : first;
  }
  return first;
}

}  // namespace sluice::app
