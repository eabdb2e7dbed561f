#include "envoy_environment.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <utility>
#include <vector>

#include "credentials.h"
#include "net/listener.h"

namespace sluice::app {

namespace {

// Variables that are known and have no effect, by the beginning of their names.
struct Unheeded {
  std::string_view prefix;
  std::string_view reason;
};
constexpr std::string_view kPrometheus = "metrics are at /metrics of the debug port";
constexpr auto kUnheeded = std::to_array<Unheeded>({
    {"MEMCACHE_", "memcached has no atomic check"},
    {"USE_STATSD", kPrometheus},
    {"STATSD_", kPrometheus},
    {"STATS_FLUSH_INTERVAL", kPrometheus},
    {"DISABLE_STATS", kPrometheus},
    {"EXTRA_TAGS", kPrometheus},
    {"USE_DOG_STATSD", kPrometheus},
    {"DOG_STATSD_", kPrometheus},
    {"PROMETHEUS_MAPPER_YAML", "labels of metrics are not mapped"},
    {"PROMETHEUS_RESPONSE_TIME_AS_MILLISECONDS", "times are in seconds, as the metric's name says"},
    {"TRACING_", "there is no tracing yet"},
    {"OTEL_", "there is no tracing yet"},
    {"CONFIG_GRPC_XDS_", "the configuration is read from files"},
    {"XDS_CLIENT_", "the configuration is read from files"},
    {"FORCE_START_WITHOUT_INITIAL_CONFIG",
     "Sluice always starts, and answers errors until a configuration is loaded"},
    {"GOMEMLIMIT", "Sluice is not a Go program"},
    {"GOMAXPROCS", "Sluice is not a Go program: set `loops` in the configuration"},
});

std::string Address(const std::string& host, std::size_t port) {
  const bool is_v6 = host.find(':') != std::string::npos && !host.starts_with('[');
  return (is_v6 ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

std::string ReadAddress(EnvironmentReader& read, std::string_view host,
                        std::string_view default_host, std::string_view port,
                        std::size_t default_port) {
  constexpr std::size_t kMostPort = 65'535;
  const std::string where = read.Text(host, default_host);
  if (!net::ParseAddress(Address(where, default_port))) {
    read.Fail(host, where, "is not an address");
  }
  return Address(where, read.Number(port, default_port, kMostPort));
}

std::optional<TlsConfig> ReadTls(EnvironmentReader& read) {
  if (!read.Bool("GRPC_SERVER_USE_TLS", false)) {
    return std::nullopt;
  }
  TlsConfig tls{.cert = read.Text("GRPC_SERVER_TLS_CERT", ""),
                .key = read.Text("GRPC_SERVER_TLS_KEY", ""),
                .client_ca = read.Text("GRPC_CLIENT_TLS_CACERT", ""),
                .client_name = read.Text("GRPC_CLIENT_TLS_SAN", "")};
  if (!tls.client_name.empty() && tls.client_ca.empty()) {
    read.Fail("GRPC_CLIENT_TLS_SAN", tls.client_name,
              "needs GRPC_CLIENT_TLS_CACERT, without which clients send no certificate");
  }
  if (tls.cert.empty() || tls.key.empty()) {
    read.Fail("GRPC_SERVER_USE_TLS", "true", "needs GRPC_SERVER_TLS_CERT and GRPC_SERVER_TLS_KEY");
  } else if (const auto loaded = LoadTls(tls); !loaded) {
    read.Fail("GRPC_SERVER_TLS_CERT", tls.cert, "cannot be loaded: " + loaded.error().Text());
  }
  return tls;
}

void ReadListeners(EnvironmentReader& read, DaemonConfig& config) {
  const std::string token = read.Text("SLUICE_ADMIN_TOKEN", "");
  ListenerConfig http{
      .address = ReadAddress(read, "HOST", "0.0.0.0", "PORT", 8080), .tls = {}, .token = {}};
  ListenerConfig grpc{.address = ReadAddress(read, "GRPC_HOST", "0.0.0.0", "GRPC_PORT", 8081),
                      .protocol = Protocol::kGrpc,
                      .tls = ReadTls(read),
                      .token = {}};
  if (const std::string path = read.Text("GRPC_UDS", ""); !path.empty()) {
    grpc.address = "unix:" + path;
  }
  ListenerConfig debug{.address = ReadAddress(read, "DEBUG_HOST", "127.0.0.1", "DEBUG_PORT", 6070),
                       .role = frontend::http::Role::kAdmin,
                       .tls = {},
                       .token = token};
  const auto endpoint = net::ParseAddress(debug.address);
  if (token.empty() && endpoint && !endpoint->address().is_loopback()) {
    read.Fail(
        "DEBUG_HOST", read.Text("DEBUG_HOST", ""),
        "opens the admin listener to other hosts: set SLUICE_ADMIN_TOKEN, which clients send as "
        "`Authorization: Bearer`, or leave DEBUG_HOST out");
  }
  config.listeners = {std::move(http), std::move(grpc), std::move(debug)};
  if (read.Bool("USE_PROMETHEUS", false)) {
    ListenerConfig metrics{.address = read.Text("PROMETHEUS_ADDR", ":9090"),
                           .role = frontend::http::Role::kMetrics,
                           .tls = {},
                           .token = {},
                           .metrics_path = read.Text("PROMETHEUS_PATH", "/metrics")};
    if (!net::ParseAddress(metrics.address)) {
      read.Fail("PROMETHEUS_ADDR", metrics.address, "is not an address, such as :9090");
    }
    if (!metrics.metrics_path.starts_with('/')) {
      read.Fail("PROMETHEUS_PATH", metrics.metrics_path, "is not a path, such as /metrics");
    }
    config.listeners.push_back(std::move(metrics));
  }
}

void ReadFiles(EnvironmentReader& read, EnvoyConfig& envoy) {
  const std::filesystem::path root = read.Text("RUNTIME_ROOT", "/srv/runtime_data/current");
  const std::filesystem::path tree = root / read.Text("RUNTIME_SUBDIRECTORY", "");
  const std::string app = read.Text("RUNTIME_APPDIRECTORY", "config");
  envoy.files.skip_dotfiles = read.Bool("RUNTIME_IGNOREDOTFILES", false);
  if (read.Bool("RUNTIME_WATCH_ROOT", true)) {
    envoy.files.directory = tree.lexically_normal().string();
    envoy.files.prefix = app + ".";
  } else {
    envoy.files.directory = (tree / app).lexically_normal().string();
  }
  envoy.files.reading.merge_domains = read.Bool("MERGE_DOMAIN_CONFIG", false);
  if (const std::string type = read.Text("CONFIG_TYPE", "FILE"); type != "FILE") {
    read.Fail("CONFIG_TYPE", type, "is not supported: the configuration is read from files, FILE");
  }
}

void ReadSettings(EnvironmentReader& read, envoy::Settings& settings) {
  const std::string semantics = read.Text("SLUICE_SEMANTICS", "compatible");
  settings.compatible = semantics != "sluice";
  if (settings.compatible && semantics != "compatible") {
    read.Fail("SLUICE_SEMANTICS", semantics, "is neither compatible nor sluice");
  }
  settings.shadow_mode = read.Bool("SHADOW_MODE", false);
  settings.quota_mode = read.Bool("QUOTA_MODE", false);
  settings.cache_key_prefix = read.Text("CACHE_KEY_PREFIX", "");
  settings.near_limit_ratio = read.Share("NEAR_LIMIT_RATIO", settings.near_limit_ratio);
  settings.stop_counting_when_over = read.Bool("STOP_CACHE_KEY_INCREMENT_WHEN_OVERLIMIT", false);
  settings.over_limit_cache_bytes =
      read.Number("LOCAL_CACHE_SIZE_IN_BYTES", 0, std::size_t{1} << 34);
  settings.dynamic_metadata = read.Bool("RESPONSE_DYNAMIC_METADATA", false);
  settings.response_headers = read.Bool("LIMIT_RESPONSE_HEADERS_ENABLED", false);
  settings.limit_header = read.Text("LIMIT_LIMIT_HEADER", settings.limit_header);
  settings.remaining_header = read.Text("LIMIT_REMAINING_HEADER", settings.remaining_header);
  settings.reset_header = read.Text("LIMIT_RESET_HEADER", settings.reset_header);
  settings.retry_after_header = read.Bool("SLUICE_RETRY_AFTER", false);
  settings.ratelimit_fields = read.Bool("SLUICE_RATELIMIT_FIELDS", false);
  if (const std::string backend = read.Text("BACKEND_TYPE", "redis"); backend != "redis") {
    read.Fail("BACKEND_TYPE", backend, "is not supported: leave it out");
  }
}

void ReadLog(EnvironmentReader& read, DaemonConfig& config) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 8> kOldLevels{
      {{"panic", "error"},
       {"fatal", "error"},
       {"error", "error"},
       {"warn", "warn"},
       {"warning", "warn"},
       {"info", "info"},
       {"debug", "debug"},
       {"trace", "trace"}}};
  std::string level = read.Text("LOG_LEVEL", "warn");
  std::ranges::transform(level, level.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  const auto* const known =
      std::ranges::find(kOldLevels, level, &std::pair<std::string_view, std::string_view>::first);
  if (known == kOldLevels.end()) {
    read.Fail("LOG_LEVEL", level, "is none of panic, fatal, error, warn, info, debug, trace");
  } else {
    config.log_level = known->second;
  }
  const std::string format = read.Text("LOG_FORMAT", "text");
  config.log_format = format == "json" ? LogFormat::kJson : LogFormat::kText;
}

}  // namespace

void ApplyEnvoyEnvironment(const Environment& environment, bool keep_listeners,
                           DaemonConfig& config, rules::Findings& findings) {
  EnvironmentReader read(environment, findings);
  EnvoyConfig envoy;
  ReadFiles(read, envoy);
  ReadSettings(read, envoy.settings);
  envoy.healthy_with_a_configuration = read.Bool("HEALTHY_WITH_AT_LEAST_ONE_CONFIG_LOADED", false);
  envoy.max_connection_age = read.Time("GRPC_MAX_CONNECTION_AGE", std::chrono::hours(24));
  envoy.max_connection_age_grace =
      read.Time("GRPC_MAX_CONNECTION_AGE_GRACE", std::chrono::hours(1));
  if (!keep_listeners) {
    ReadListeners(read, config);
  }
  ReadLog(read, config);
  ReadRedisEnvironment(read, config);
  config.envoy = std::move(envoy);
}

std::string WarnOfUnheeded(std::span<const std::string> names, const DaemonConfig& config) {
  std::string warning;
  for (const std::string& name : names) {
    std::string_view reason = WhyUnheededOfRedis(name, config);
    if (reason.empty()) {
      const auto* const row = std::ranges::find_if(
          kUnheeded, [&name](const Unheeded& known) { return name.starts_with(known.prefix); });
      reason = row == kUnheeded.end() ? "" : row->reason;
    }
    if (!reason.empty()) {
      warning += (warning.empty() ? "" : "; ") + name + " (" + std::string(reason) + ")";
    }
  }
  return warning.empty() ? warning : "without effect: " + warning;
}

}  // namespace sluice::app
