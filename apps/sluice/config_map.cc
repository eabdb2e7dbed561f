#include "config_map.h"

#include <algorithm>
#include <array>

#include "base/assert.h"
#include "config_table.h"
#include "frontend/http/limit_headers.h"

namespace sluice::app {

namespace {

// Each in the order of the enum that it is read into.
constexpr std::array<std::string_view, 3> kEncodedSlash{"refuse", "decode", "keep"};
constexpr std::array<std::string_view, 2> kTruths{"false", "true"};
constexpr std::array<std::string_view, 3> kRequestFields{"either", "x-original", "x-forwarded"};
constexpr std::array<std::string_view, 3> kProtocols{"http", "grpc", "resp"};
constexpr std::array<std::string_view, 3> kRoles{"check", "admin", "metrics"};
constexpr auto kDialects = [] {
  std::array<std::string_view, frontend::http::kLimitDialects.size()> words{};
  std::ranges::transform(frontend::http::kLimitDialects, words.begin(),
                         &frontend::http::LimitDialect::word);
  return words;
}();
constexpr std::array<std::string_view, 2> kSemantics{"compatible", "sluice"};
constexpr std::array<std::string_view, 6> kLevels{"trace", "debug", "info", "warn", "error", "off"};
constexpr std::array<std::string_view, 2> kCompressions{"gzip", "none"};
constexpr std::array<std::string_view, 2> kFormats{"text", "json"};

constexpr Units kMostConnections = 10'000'000;

constexpr auto kListenerTlsFields = std::to_array<ConfigField>({
    table::Guard(table::Value("cert", "file", "required",
                              "The server's certificate in PEM, followed by its chain")),
    table::Guard(table::Value("key", "file", "required",
                              "The certificate's private key in PEM, not encrypted")),
    table::Guard(table::Value(
        "client_ca", "file", "none",
        "The authorities that sign clients' certificates; without it clients need none")),
    table::Guard(table::Value("client_name", "host or address", "none",
                              "The name that a client's certificate must have")),
});

constexpr auto kListenerAuthFields = std::to_array<ConfigField>({
    table::Guard(
        table::Value("token", "text", "none", "The bearer token of `http` and `grpc` listeners")),
    table::Guard(table::Value(
        "token_file", "file", "none",
        "The file that holds the bearer token; a change takes effect without a restart")),
    table::Guard(
        table::Value("password", "text", "none", "The password of `resp` listeners, for AUTH")),
    table::Guard(
        table::Value("password_file", "file", "none",
                     "The file that holds the password; a change takes effect without a restart")),
});

constexpr auto kProxyPathsFields = std::to_array<ConfigField>({
    table::Word("fold_case", kTruths, table::Is("false"),
                "Whether A to Z become a to z, for services that route `/LOGIN` like `/login`"),
    table::Word(
        "encoded_slash", kEncodedSlash, table::Is("refuse"),
        "What `%2F`, `%5C` and a backslash mean: the request is refused, they separate segments, "
        "or they belong to their segment"),
});

constexpr auto kProxyFields = std::to_array<ConfigField>({
    table::Listed(table::Value("trusted", "list of addresses and address blocks", "this host",
                               "The proxies that may say who their client is")),
    table::Value("client_address", "header name", table::Is("X-Forwarded-For"),
                 "The header in which a trusted proxy names its client"),
    table::Word("request_fields", kRequestFields, table::Is("either"),
                "Which headers describe the request that the proxy received: `X-Original-*` "
                "(NGINX) or `X-Forwarded-*` "
                "(Caddy, Traefik)"),
    table::Value(
        "headers", "map of attribute to header", "none",
        "Attributes that come from header fields; the client writes these, unless the proxy "
        "overwrites them"),
    table::Value("trusted_headers", "map of attribute to header", "none",
                 "The same, of fields that count only if a trusted proxy sends them"),
    table::Map(
        "paths", kProxyPathsMap, table::Is("as_sent"),
        "How the path of a request becomes `endpoint`: `as_sent`, `strict` (one text for all "
        "spellings), or strict with these options"),
    table::Listed(table::Value("cors", "list of origins", "none",
                               "Origins of browsers' scripts that may read a denial")),
});

constexpr auto kListenerFields = std::to_array<ConfigField>({
    table::Value("address", "HOST:PORT, of `grpc` also unix:PATH",
                 "127.0.0.1:8080; of `grpc` 127.0.0.1:8081, of `resp` 127.0.0.1:6380, of `admin` "
                 "127.0.0.1:6070",
                 "Where the daemon listens"),
    table::Word("protocol", kProtocols, table::Is("http"), "Its protocol"),
    table::Word("role", kRoles, table::Is("check"),
                "Who uses it: applications and proxies, operators, or only collectors of metrics"),
    table::Listed(table::Value(
        "hosts", "list of names", "none",
        "Of an admin listener without `auth`: further names for it in a request's `Host` field")),
    table::Word("console", kTruths, table::Is("false"),
                "Of an admin listener: whether it serves the console, a page for operators, under "
                "`/console/`"),
    table::Guard(table::Map("tls", kListenerTlsMap, "none", "Speaks TLS with these files")),
    table::Guard(table::Map("auth", kListenerAuthMap, "none",
                            "The secret that clients must show: one of these fields")),
    table::Map("proxy", kProxyMap, "none", "How the requests of proxies are read"),
    table::Listed(table::Word("limit_headers", kDialects, table::Is("[x-ratelimit, draft-10]"),
                              "Which rate limit headers responses carry")),
});

constexpr auto kEnvoyFields = std::to_array<ConfigField>({
    table::Value("directory", "directory", "required",
                 "Where the configuration files of Envoy's domains are"),
    table::Word("merge_domains", kTruths, table::Is("false"),
                "Whether several files may define the same domain"),
    table::Word("semantics", kSemantics, table::Is("compatible"),
                "Whether limits decide as envoyproxy/ratelimit does, or as Sluice's own rules"),
});

constexpr auto kIdempotencyFields = std::to_array<ConfigField>({
    table::Value("keep", "duration above 0", table::Is("24h"), "How long an answer is kept"),
    table::Count(
        "mebibytes", 0, 1'000'000, table::Is("64"),
        "How much memory answers may take; with 0 none are kept and the header is ignored"),
    table::Value("caller", "attribute", "none",
                 "The attribute that names the owner of an Idempotency-Key; without it, the "
                 "credential or the address does"),
});

constexpr auto kInsightFields = std::to_array<ConfigField>({
    table::Value("hot_key_share", "percentage or `off`", table::Is("10%"),
                 "The share of a rule's requests from which on a key is reported in the log"),
    table::Count("hot_key_requests", 1, 1'000'000'000, table::Is("1000"),
                 "The least requests of a rule in 30 seconds for that"),
});

constexpr auto kDecisionsFields = std::to_array<ConfigField>({
    table::Count("mebibytes", 0, 1'000, table::Is("4"),
                 "How much memory the last decisions may take; with 0 none are kept"),
});

constexpr auto kDecisionLogFields = std::to_array<ConfigField>({
    table::Value("path", "file", "required",
                 "The file that lines are appended to, relative to the configuration"),
    table::Value("sample", "number from 0 to 1", table::Is("0.01"),
                 "The share of requests that are logged if no rule denies them"),
    table::Value("denied_sample", "number from 0 to 1", table::Is("1"),
                 "The share of requests that are logged if a rule denies them, shadow rules too"),
    table::Count("max_bytes", 100'000, 1'000'000'000'000, table::Is("100000000"),
                 "The size at which the file is renamed to PATH.1 and a new one begins"),
    table::Count("keep", 0, 1'000, table::Is("5"), "How many renamed files are kept"),
});

constexpr auto kLogFields = std::to_array<ConfigField>({
    table::Word("level", kLevels, table::Is("info"), "What is logged, from this level up"),
    table::Word("format", kFormats, table::Is("text"), "How a line is written"),
    table::Value("denial_summary", "duration, or `off`", table::Is("1m"),
                 "How often a line says how much each rule denied; only if it denied something"),
    table::Count("requests", 0, 1'000, table::Is("0"),
                 "How many requests a second are logged with their attributes and the rules that "
                 "judged them; `sluice trace` sets it for some time"),
});

constexpr auto kOtlpFields = std::to_array<ConfigField>({
    table::Value(
        "endpoint", "http://HOST[:PORT][/PATH] or https://…", "required",
        "The collector's URL; the port is 4318 if left out, and `/v1/metrics` and `/v1/traces` are "
        "added"),
    table::Value("interval", "duration, 1s to 1d", table::Is("15s"), "How often metrics are sent"),
    table::Value("timeout", "duration, 100ms to 1m", table::Is("10s"),
                 "How long the collector may take to answer"),
    table::Word("compression", kCompressions, table::Is("gzip"), "How messages are compressed"),
    table::Value("headers", "map of header to text", "none", "Header fields of each message"),
    table::Guard(table::Value("token_file", "file", "none",
                              "The file that holds a bearer token, read for each message")),
    table::Guard(table::Map("tls", kRedisTlsMap, "the system's authorities for `https`",
                            "How the collector's certificate is checked, and this node's own")),
    table::Word(
        "traces", kTruths, table::Is("true"),
        "Whether a span is sent for each decision of a request whose `traceparent` is sampled"),
    table::Value("service_name", "text", table::Is("sluice"), "The resource's `service.name`"),
    table::Value("attributes", "map of attribute to text", "none",
                 "Further attributes of the resource, and another `service.instance.id`"),
});

constexpr auto kConfigurationFields = std::to_array<ConfigField>({
    table::Listed(
        table::Map("listeners", kListenerMap,
                   "one each for HTTP checks, gRPC, the Redis protocol and operators, on loopback",
                   "Where the daemon listens")),
    table::Map("store", kStoreMap, table::Is("table"),
               "Where keys are counted: `table`, in this machine's memory, or a Redis"),
    table::Map("table", kTableMap, table::Is("{keys: 1000000}"),
               "The table of keys in this machine's memory"),
    table::Listed(table::Map("rule_sources", kRuleSourceMap, "none",
                             "Where rules come from besides this file")),
    table::Listed(
        table::Value("rules", "list of rules", "none", "Rules in this file: see rules.md")),
    table::Value("attributes", "map", "none", "Types of attributes in this file: see rules.md"),
    table::Count("loops", 0, 1024, table::Is("0"),
                 "Worker threads, each with an event loop; 0 means one per core"),
    table::Count("connections", 1, kMostConnections, table::Is("10000"),
                 "Most open connections over all listeners; further ones are refused and counted"),
    table::Count("connections_per_peer", 1, kMostConnections, "half of `connections`",
                 "Most connections from one client address or IPv6 /64"),
    table::Value("drain_timeout", "duration", table::Is("10s"),
                 "How long a shutdown waits for requests that are being answered"),
    table::Map("log", kLogMap, table::Is("{level: info, format: text}"),
               "The daemon's log, on stderr"),
    table::Map("decisions", kDecisionsMap, table::Is("{mebibytes: 4}"),
               "The last decisions, which operators can list"),
    table::Map("decision_log", kDecisionLogMap, "none",
               "A file with a line of JSON for each request, which `sluice replay` reads"),
    table::Map("envoy", kEnvoyMap, "none", "Envoy's rate limit service on the gRPC listeners"),
    table::Map("idempotency", kIdempotencyMap, table::Is("{keep: 24h, mebibytes: 64}"),
               "Answers to checks with an Idempotency-Key"),
    table::Map("insight", kInsightMap, table::Is("{hot_key_share: 10%, hot_key_requests: 1000}"),
               "When a key is reported that makes a large share of a rule"),
    table::Map("otlp", kOtlpMap, "none",
               "An OpenTelemetry collector that metrics and spans are sent to"),
});

}  // namespace

constinit const ConfigMap kListenerTlsMap{"tls", kListenerTlsFields};
constinit const ConfigMap kListenerAuthMap{"auth", kListenerAuthFields};
constinit const ConfigMap kProxyPathsMap{"paths", kProxyPathsFields};
constinit const ConfigMap kProxyMap{"proxy", kProxyFields};
constinit const ConfigMap kListenerMap{"a listener", kListenerFields};
constinit const ConfigMap kEnvoyMap{"envoy", kEnvoyFields};
constinit const ConfigMap kIdempotencyMap{"idempotency", kIdempotencyFields};
constinit const ConfigMap kInsightMap{"insight", kInsightFields};
constinit const ConfigMap kDecisionsMap{"decisions", kDecisionsFields};
constinit const ConfigMap kDecisionLogMap{"decision_log", kDecisionLogFields};
constinit const ConfigMap kOtlpMap{"otlp", kOtlpFields};
constinit const ConfigMap kLogMap{"log", kLogFields};
constinit const ConfigMap kConfiguration{"a configuration", kConfigurationFields};

const ConfigField& ConfigMap::operator[](std::string_view name) const {
  const auto found = std::ranges::find(fields, name, &ConfigField::name);
  SLUICE_ASSERT(found != fields.end());
  return *found;
}

}  // namespace sluice::app
