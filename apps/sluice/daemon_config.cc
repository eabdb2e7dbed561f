#include "daemon_config.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <span>

#include "config_fields.h"
#include "credentials.h"
#include "files.h"
#include "net/listener.h"
#include "proxy_config.h"
#include "rules/value_reader.h"
#include "rules/yaml_tree.h"
#include "store/table.h"

namespace sluice::app {

namespace {

using rules::Reporter;
using rules::YamlNode;

constexpr std::array<std::string_view, 13> kTopFields{
    "listeners",  "store", "table",       "rule_sources",         "rules",
    "attributes", "loops", "connections", "connections_per_peer", "drain_timeout",
    "log",        "envoy", "idempotency"};
constexpr std::array<std::string_view, 7> kListenerFields{
    "address", "protocol", "role", "tls", "auth", "proxy", "limit_headers"};
constexpr std::array<std::string_view, 2> kIdempotencyFields{"keep", "mebibytes"};
constexpr std::array<std::string_view, 4> kAuthFields{"token", "token_file", "password",
                                                      "password_file"};
constexpr std::array<std::string_view, 4> kTlsFields{"cert", "key", "client_ca", "client_name"};
constexpr std::array<std::string_view, 6> kTableFields{
    "path", "keys", "blocks", "when_full", "snapshots", "snapshot_interval"};
constexpr std::array<std::string_view, 3> kSourceFields{"files", "api", "etcd"};
constexpr std::array<std::string_view, 1> kApiFields{"dir"};
constexpr std::array<std::string_view, 3> kEnvoyFields{"directory", "merge_domains", "semantics"};
constexpr std::array<std::string_view, 2> kLogFields{"level", "format"};

constexpr std::array<std::string_view, 3> kProtocols{"http", "grpc", "resp"};
constexpr std::array<std::string_view, 3> kRoles{"check", "admin", "metrics"};
constexpr std::array<std::string_view, 3> kWhenFull{"evict", "allow", "deny"};
constexpr std::array<std::string_view, 6> kLevels{"trace", "debug", "info", "warn", "error", "off"};
constexpr std::array<std::string_view, 2> kSemantics{"compatible", "sluice"};
constexpr std::array<std::string_view, 2> kFormats{"text", "json"};

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
    report.Fail(node, "tls wants a cert and its key: write tls: {cert: FILE, key: FILE}");
  } else if (!tls.client_name.empty() && tls.client_ca.empty()) {
    report.Fail(node, "client_name wants client_ca: without it no client shows a certificate");
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
                  "auth has two of token, token_file, password and password_file: leave one");
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
                "auth names no secret: write auth: {token_file: ...}, or of a resp listener auth: "
                "{password_file: ...}");
  }
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
    report.Fail(node, admin ? "a grpc listener has no role admin: leave role out"
                            : "a grpc listener has no role metrics: leave role out");
  }
  if (resp && listener.role == frontend::http::Role::kMetrics) {
    report.Fail(node, "a resp listener has no role metrics: leave role out");
  }
  if (resp && admin) {
    report.Fail(node,
                "a resp listener has no role admin: leave role out; SLUICE.RESET and "
                "SLUICE.REFUND are for clients that authenticate, or that come from this host");
  }
  if (UnixPathOf(listener.address) && !grpc) {
    report.Fail(node, "only a grpc listener has a Unix socket: write protocol: grpc, or HOST:PORT");
  }
  if (listener.address.empty() && !resp && !grpc && !check && !admin) {
    report.Fail(node, "a metrics listener wants an address: write address: HOST:PORT");
  }
  if (listener.address.empty()) {
    listener.address = std::string(resp    ? kDefaultResp
                                   : grpc  ? kDefaultGrpc
                                   : admin ? kDefaultAdmin
                                           : kDefaultHttp);
  }
  if (listener.has_proxies && (resp || !check)) {
    report.Fail(node, "proxies ask an http listener of the role check: leave proxy out here");
  }
  const auto endpoint = net::ParseAddress(listener.address);
  const bool knows_clients = has_auth || (listener.tls && !listener.tls->client_ca.empty());
  if (admin && !knows_clients && endpoint && !endpoint->address().is_loopback()) {
    report.Fail(node,
                "an admin listener that others can reach wants auth: {token_file: ...}, or "
                "clients with a certificate, tls: {..., client_ca: ...}");
  }
  return listener;
}

void ReadTable(const YamlNode& node, Reporter& report, TableConfig& table) {
  EachField(
      node, "table", kTableFields, report, [&](std::string_view field, const YamlNode& value) {
        if (field == "path") {
          table.path = rules::ReadText(value, field, report).value_or("");
        } else if (field == "when_full") {
          table.when_full =
              static_cast<WhenFull>(rules::ReadWord(value, field, kWhenFull, report).value_or(0));
        } else if (field == "snapshot_interval") {
          if (value.is_text() && value.text == "off") {
            table.snapshot_interval = Duration::zero();
          } else {
            table.snapshot_interval =
                rules::ReadDuration(value, field, report).value_or(table.snapshot_interval);
          }
        } else if (field == "snapshots") {
          table.snapshots = rules::ReadText(value, field, report).value_or("");
        } else {
          const bool keys = field == "keys";
          ReadCount(value, field, 1, keys ? store::kMostKeys : store::kMaxBlocks, report,
                    keys ? table.keys : table.blocks);
        }
      });
}

void ReadSources(const YamlNode& node, const std::filesystem::path& folder, Reporter& report,
                 DaemonConfig& config) {
  std::string& api_folder = config.api_folder;
  const auto read_api = [&](const YamlNode& api) {
    EachField(api, "api", kApiFields, report, [&](std::string_view, const YamlNode& dir) {
      const auto text = rules::ReadText(dir, "dir", report);
      if (text && (text->empty() || !api_folder.empty())) {
        report.Fail(dir, text->empty() ? "dir is empty: name a folder, or leave api out"
                                       : "the API has one folder: one of them must go");
      } else if (text) {
        api_folder = std::filesystem::absolute(folder / *text).lexically_normal().string();
      }
    });
  };
  EachItem(node, "rule_sources", report, [&](const YamlNode& item) {
    EachField(item, "a rule source", kSourceFields, report,
              [&](std::string_view field, const YamlNode& files) {
                if (field == "api") {
                  read_api(files);
                  return;
                }
                if (field == "etcd") {
                  if (config.etcd) {
                    report.Fail(files, "rules come from one etcd cluster: one of them must go");
                  }
                  config.etcd = ReadEtcd(files, folder, report);
                  return;
                }
                EachItem(files, "files", report, [&](const YamlNode& glob) {
                  if (const auto text = rules::ReadText(glob, "files", report)) {
                    config.rule_files.push_back((folder / *text).string());
                  }
                });
              });
  });
}

EnvoyConfig ReadEnvoy(const YamlNode& node, const std::filesystem::path& folder, Reporter& report) {
  EnvoyConfig envoy;
  EachField(node, "envoy", kEnvoyFields, report,
            [&](std::string_view field, const YamlNode& value) {
              if (field == "directory") {
                if (const auto text = rules::ReadText(value, field, report)) {
                  envoy.directory = (folder / *text).lexically_normal().string();
                }
              } else if (field == "merge_domains") {
                envoy.reading.merge_domains = rules::ReadBool(value, field, report).value_or(false);
              } else {
                envoy.settings.compatible =
                    rules::ReadWord(value, field, kSemantics, report).value_or(0) == 0;
              }
            });
  if (envoy.directory.empty()) {
    report.Fail(node,
                "envoy wants the directory of its domains' files: write envoy: {directory: DIR}");
  }
  return envoy;
}

void ReadIdempotency(const YamlNode& node, Reporter& report, IdempotencyConfig& idempotency) {
  EachField(node, "idempotency", kIdempotencyFields, report,
            [&](std::string_view field, const YamlNode& value) {
              if (field == "mebibytes") {
                ReadCount(value, field, 0, 1'000'000, report, idempotency.mebibytes);
                return;
              }
              const auto keep = rules::ReadDuration(value, field, report);
              if (keep && *keep <= Duration::zero()) {
                report.Fail(value, "keep must be longer than nothing: mebibytes: 0 keeps none");
              }
              idempotency.keep = keep.value_or(idempotency.keep);
            });
}

void ReadLog(const YamlNode& node, Reporter& report, DaemonConfig& config) {
  EachField(node, "log", kLogFields, report, [&](std::string_view field, const YamlNode& value) {
    if (field == "level") {
      if (const auto level = rules::ReadWord(value, field, kLevels, report)) {
        config.log_level = kLevels[*level];
      }
    } else if (const auto format = rules::ReadWord(value, field, kFormats, report)) {
      config.log_format = *format == 1 ? LogFormat::kJson : LogFormat::kText;
    }
  });
}

}  // namespace

std::optional<std::string_view> UnixPathOf(std::string_view address) {
  constexpr std::string_view kScheme = "unix:";
  return address.starts_with(kScheme) ? std::optional(address.substr(kScheme.size()))
                                      : std::nullopt;
}

DaemonConfig ReadDaemonConfig(std::string_view text, const std::string& file,
                              rules::Findings& findings) {
  DaemonConfig config;
  Reporter report(file, findings);
  const rules::YamlTree tree(text, file, findings.errors);
  const YamlNode& root = tree.root();
  const std::filesystem::path folder = std::filesystem::path(file).parent_path();
  EachField(root, "the configuration", kTopFields, report,
            [&](std::string_view field, const YamlNode& value) {
              if (field == "listeners") {
                config.names_listeners = true;
                EachItem(value, field, report, [&](const YamlNode& item) {
                  config.listeners.push_back(ReadListener(item, folder, report));
                });
              } else if (field == "store") {
                config.names_store = true;
                config.redis = ReadStore(value, folder, report);
              } else if (field == "table") {
                ReadTable(value, report, config.table);
              } else if (field == "rule_sources") {
                ReadSources(value, folder, report, config);
              } else if (field == "envoy") {
                config.envoy = ReadEnvoy(value, folder, report);
              } else if (field == "loops") {
                ReadCount(value, field, 0, 1024, report, config.loops);
              } else if (field == "connections") {
                ReadCount(value, field, 1, 10'000'000, report, config.connections);
              } else if (field == "connections_per_peer") {
                ReadCount(value, field, 1, 10'000'000, report, config.connections_per_peer);
              } else if (field == "drain_timeout") {
                config.drain_timeout =
                    rules::ReadDuration(value, field, report).value_or(config.drain_timeout);
              } else if (field == "idempotency") {
                ReadIdempotency(value, report, config.idempotency);
              } else if (field == "log") {
                ReadLog(value, report, config);
              }  // `rules` and `attributes` are the rule set's to read.
            });
  if (config.listeners.empty()) {
    config.listeners = {
        {.address = std::string(kDefaultHttp), .tls = {}, .token = {}},
        {.address = std::string(kDefaultGrpc), .protocol = Protocol::kGrpc, .tls = {}, .token = {}},
        {.address = std::string(kDefaultResp), .protocol = Protocol::kResp, .tls = {}, .token = {}},
        {.address = std::string(kDefaultAdmin),
         .role = frontend::http::Role::kAdmin,
         .tls = {},
         .token = {}}};
  }
  config.own_rules = {.name = file, .text = std::string(text), .is_configuration = true};
  return config;
}

bool LooksLikeDaemonConfig(std::string_view text) {
  std::vector<Error> problems;
  const rules::YamlTree tree(text, "", problems);
  const YamlNode& root = tree.root();
  if (!root.is_map()) {
    return false;
  }
  for (std::size_t i = 0; i < root.pair_count(); ++i) {
    const std::string& field = root.key(i).text;
    if (field != "rules" && field != "attributes" &&
        std::find(kTopFields.begin(), kTopFields.end(), field) != kTopFields.end()) {
      return true;
    }
  }
  return false;
}

}  // namespace sluice::app
