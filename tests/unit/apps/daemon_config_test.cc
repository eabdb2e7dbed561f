#include "daemon_config.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sluice::app {
namespace {

using testing::HasSubstr;

// All errors, a line each.
std::string ErrorsOf(const std::string& text) {
  rules::Findings findings;
  (void)ReadDaemonConfig(text, "etc/sluice.yaml", findings);
  std::string lines;
  for (const Error& error : findings.errors) {
    lines += error.Text() + "\n";
  }
  return lines;
}

DaemonConfig Read(const std::string& text) {
  rules::Findings findings;
  DaemonConfig config = ReadDaemonConfig(text, "etc/sluice.yaml", findings);
  EXPECT_TRUE(findings.errors.empty()) << findings.errors.front().Text();
  return config;
}

TEST(DaemonConfigTest, AnEmptyFileServesChecksAndOperators) {
  for (const char* text : {"", "# nothing yet\n", "listeners: []\n", "table:\n"}) {
    const DaemonConfig config = Read(text);
    ASSERT_EQ(config.listeners.size(), 4U) << text;
    EXPECT_EQ(config.listeners[0].address, "127.0.0.1:8080");
    EXPECT_EQ(config.listeners[1].address, "127.0.0.1:8081");
    EXPECT_EQ(config.listeners[1].protocol, Protocol::kGrpc);
    EXPECT_EQ(config.listeners[2].address, "127.0.0.1:6380");
    EXPECT_EQ(config.listeners[2].protocol, Protocol::kResp);
    EXPECT_EQ(config.listeners[3].address, "127.0.0.1:6070");
    EXPECT_EQ(config.listeners[3].role, frontend::http::Role::kAdmin);
    EXPECT_EQ(config.table.keys, 1'000'000U);
    EXPECT_EQ(config.connections, 10'000U);
    EXPECT_EQ(config.drain_timeout, std::chrono::seconds(10));
  }
}

TEST(DaemonConfigTest, ReadsEveryField) {
  const DaemonConfig config = Read(R"(
listeners:
  - {address: "[::1]:80", role: check, protocol: http}
  - {address: "0.0.0.0:90", role: admin, auth: {token: secret}}
store: table
table: {path: /run/t, keys: 5, blocks: 6, when_full: deny}
rule_sources: [{files: [rules/*.yaml, /abs.yaml]}]
loops: 3
connections: 7
drain_timeout: 250ms
log: {level: warn, format: json}
idempotency: {keep: 2h, mebibytes: 3, caller: tenant}
insight: {hot_key_share: 25%, hot_key_requests: 7}
)");
  EXPECT_EQ(config.idempotency.keep, std::chrono::hours(2));
  EXPECT_EQ(config.idempotency.mebibytes, 3U);
  EXPECT_EQ(config.idempotency.caller, "tenant");
  EXPECT_DOUBLE_EQ(config.hot_keys.share, 0.25);
  EXPECT_EQ(config.hot_keys.requests, 7U);
  EXPECT_EQ(config.listeners[1].token, "secret");
  EXPECT_EQ(config.table.path, "/run/t");
  EXPECT_EQ(config.table.keys, 5U);
  EXPECT_EQ(config.table.blocks, 6U);
  EXPECT_EQ(config.table.when_full, WhenFull::kDeny);
  EXPECT_THAT(config.rule_files, testing::ElementsAre("etc/rules/*.yaml", "/abs.yaml"));
  EXPECT_EQ(config.loops, 3U);
  EXPECT_EQ(config.connections, 7U);
  EXPECT_EQ(config.drain_timeout, std::chrono::milliseconds(250));
  EXPECT_EQ(config.log_level, "warn");
  EXPECT_EQ(config.log_format, LogFormat::kJson);
}

TEST(DaemonConfigTest, SaysWhereAMistakeIsAndWhatToWrite) {
  const struct {
    const char* text;
    const char* error;
  } cases[] = {
      {"lisners: []", "etc/sluice.yaml:1:1: unknown field lisners, did you mean listeners?"},
      {"xxxxxxxx: []", ":1:1: unknown field xxxxxxxx: a configuration has listeners, store, table"},
      {"store: {redis: {pasword_file: p}}",
       "unknown field pasword_file, did you mean password_file?"},
      {"\nlisteners: [{adress: x}]", ":2:14: unknown field adress, did you mean address?"},
      {"listeners: [{address: x}]", ":1:23: `x` is not an address to listen on"},
      {"listeners: [{role: adm}]", ":1:20: role is adm: write check, admin or metrics"},
      {"listeners: [{protocol: grpc, role: admin}]", "a grpc listener cannot have the role admin"},
      {"listeners: [{protocol: grpc, role: metrics}]",
       "a grpc listener cannot have the role metrics"},
      {"listeners: [{protocol: resp, role: metrics}]",
       "a resp listener cannot have the role metrics"},
      {"listeners: [{role: metrics}]", "a metrics listener needs an address"},
      {"listeners: [{address: \"unix:/run/s.sock\"}]",
       "only a grpc listener can use a Unix socket"},
      {"envoy: {merge_domains: true}", "envoy needs the directory of its configuration files"},
      {"envoy: {directory: d, semantics: old}", "write compatible or sluice"},
      {"listeners: [{protocol: resp, role: admin}]", "a resp listener cannot have the role admin"},
      {"listeners: [{tls: {}}]", ":1:19: tls needs cert and key"},
      {"listeners: [{tls: {cert: a}}]", "tls needs cert and key"},
      {"listeners: [{tls: {cert: a, kye: b}}]", "did you mean key?"},
      {"listeners: [{tls: {cert: a.crt, key: /b}}]", "etc/a.crt: cannot be read: No such file"},
      {"listeners: {}", ":1:12: listeners must be a list"},
      {"store: redis",
       ":1:8: store must be table or a Redis: write store: table or store: {redis:"},
      {"store: {}", ":1:8: store is empty: write store: table"},
      {"store: {radis: {address: a}}", "unknown field radis, did you mean redis?"},
      {"store: {redis: {}}", ":1:16: redis needs one of address, sentinel and cluster"},
      {"store: {redis: {address: a, cluster: [b]}}", "redis needs one of address"},
      {"store: {redis: {address: 'a:b'}}", ":1:26: `a:b` has no port from 1 to 65535"},
      {"store: {redis: {address: 'unix:'}}", "has no path"},
      {"store: {redis: {address: a, timeout: 0ms}}", ":1:38: timeout must be 1ms to 10s"},
      {"store: {redis: {address: a, timeout: 1m}}", "timeout must be 1ms to 10s"},
      {"store: {redis: {address: a, database: x}}", ":1:39: database is x"},
      {"store: {redis: {address: a, lease: {keys: -1}}}", "keys must be 0 to 10000000"},
      {"store: {redis: {address: a, lease: {chunk: 1}}}", "unknown field chunk"},
      {"store: {redis: {address: a, username: u}}", "has a username but no password_file"},
      {"store: {redis: {address: a, password: p}}", "with password_file: FILE"},
      {"store: {redis: {address: a, password_file: /nowhere}}", ":1:44: /nowhere: cannot be read"},
      {"store: {redis: {address: a, tls: {cert: x}}}", "a client certificate needs its key"},
      {"store: {redis: {address: a, tls: {ca: x}}}", ":1:34: etc/x: cannot be read"},
      {"store: {redis: {address: a, tls: on}}", "tls must be a map"},
      {"store: {redis: {cluster: []}}", ":1:26: cluster is empty: name at least one server"},
      {"store: {redis: {cluster: [a], database: 2}}", "a cluster has only database 0"},
      {"store: {redis: {sentinel: {addresses: [a]}}}", "sentinel needs the primary's name"},
      {"store: {redis: {sentinel: {primary: p}}}", "sentinel needs the primary's name"},
      {"table: {when_full: evikt}", "did you mean evict?"},
      {"table: {keys: 0}", ":1:15: keys must be 1 to 200000000"},
      {"table: {keys: -5}", ":1:15: keys must be 1 to 200000000"},
      {"table:\n  keys: 200000001", ":2:9: keys must be 1 to 200000000"},
      {"table: {blocks: 4000000000}", ":1:17: blocks must be 1 to 268435454"},
      {"table: {keys: many}", ":1:15: keys is many"},
      {"rule_sources: [a.yaml]", "a rule source must be a map: write - files: [a.yaml]"},
      {"listeners: [\"127.0.0.1:80\"]", "a listener must be a map: write - address: 127.0.0.1:80"},
      {"rule_sources: [{file: [a]}]", "did you mean files?"},
      {"rule_sources: [{files: a}]", "files must be a list"},
      {"loops: -1", ":1:8: loops must be 0 to 1024"},
      {"connections: 0", "connections must be 1 to 10000000"},
      {"drain_timeout: 10", "a unit is missing, write 10s"},
      {"idempotency: {caller: \"\"}", "name an attribute"},
      {"insight: {hot_key_share: 0.1}", "1% to 100%, or off"},
      {"insight: {hot_key_share: 101%}", "1% to 100%, or off"},
      {"insight: {hot_key_share: \"%\"}", "1% to 100%, or off"},
      {"log: debug", "log must be a map"},
      {"log: {level: debgu}", "did you mean debug?"},
      {"loops: 1\nloops: 2", ":2:1: key loops is given twice"},
      {"[1, 2]", "a configuration must be a map"},
      {"a: [", "the text ends within [] or {}"},
  };
  for (const auto& each : cases) {
    EXPECT_THAT(ErrorsOf(each.text), HasSubstr(each.error)) << each.text;
  }
}

TEST(DaemonConfigTest, CountsAreNoQuotas) {
  EXPECT_THAT(ErrorsOf("loops: -1"), testing::Not(HasSubstr("unlimited")));
}

TEST(DaemonConfigTest, SaysAllMistakesAtOnce) {
  const std::string errors = ErrorsOf("lisners: []\nloops: 5000\nlog: {format: xml}\n");
  EXPECT_THAT(errors, HasSubstr(":1:1: "));
  EXPECT_THAT(errors, HasSubstr(":2:8: "));
  EXPECT_THAT(errors, HasSubstr(":3:15: "));
}

TEST(DaemonConfigTest, AnAdminListenerThatOthersReachWantsAToken) {
  for (const char* listener :
       {"{address: '0.0.0.0:1', role: admin}", "{address: '*:1', role: admin, auth: }"}) {
    EXPECT_THAT(ErrorsOf(std::string("listeners: [") + listener + "]"), HasSubstr("needs auth"));
  }
  EXPECT_EQ(ErrorsOf("listeners: [{address: '[::1]:1', role: admin}]"), "");
  EXPECT_THAT(ErrorsOf("listeners: [{address: '*:1', role: admin, tls: {cert: a, key: b}}]"),
              HasSubstr("needs auth"));
}

TEST(DaemonConfigTest, ReadsWhatAProxyMaySay) {
  const DaemonConfig config = Read(R"(
listeners:
  - proxy:
      trusted: [10.0.0.0/8, "::1"]
      client_address: X-Real-IP
      headers: {api_key: X-Api-Key}
      cors: [https://app.example]
    limit_headers: [github]
connections_per_peer: 3
)");
  const auto& proxy = config.listeners[0].proxy;
  ASSERT_EQ(proxy.forwarding.trusted.size(), 2U);
  EXPECT_EQ(proxy.forwarding.trusted[0].Text().view(), "10.0.0.0/8");
  EXPECT_EQ(proxy.forwarding.header, "X-Real-IP");
  EXPECT_THAT(proxy.headers, testing::ElementsAre(testing::Pair("api_key", "X-Api-Key")));
  EXPECT_THAT(proxy.cors_origins, testing::ElementsAre("https://app.example"));
  EXPECT_EQ(config.listeners[0].limit_headers,
            frontend::http::kXRateLimitFields | frontend::http::kGithubFields);
  EXPECT_EQ(config.connections_per_peer, 3U);
  const auto errors = [](const std::string& listener) {
    return ErrorsOf("listeners: [" + listener + "]");
  };
  EXPECT_THAT(errors("{proxy: {trusted: [10.0.0.1/8]}}"), HasSubstr("write 10.0.0.0/8"));
  EXPECT_THAT(errors("{proxy: {trusted: [here]}}"), HasSubstr("address or address block"));
  EXPECT_THAT(errors("{proxy: {headers: {ip: X-Ip}}}"), HasSubstr("choose another attribute"));
  EXPECT_THAT(errors("{proxy: {headers: [x]}}"), HasSubstr("headers must be a map"));
  EXPECT_THAT(errors("{proxy: {trustd: []}}"), HasSubstr("did you mean trusted?"));
  EXPECT_THAT(errors("{limit_headers: [githb]}"), HasSubstr("did you mean github?"));
}

TEST(DaemonConfigTest, ProxiesAskWhereChecksAreMadeOverHttp) {
  EXPECT_THAT(ErrorsOf("listeners: [{role: admin, proxy: {trusted: []}}]"),
              HasSubstr("proxy is only for http listeners with the role check"));
  EXPECT_THAT(ErrorsOf("listeners: [{protocol: resp, proxy: {trusted: []}}]"),
              HasSubstr("proxy is only for http listeners with the role check"));
  EXPECT_EQ(
      Read("listeners: [{proxy: {request_fields: x-forwarded}}]").listeners[0].proxy.request_fields,
      frontend::http::RequestFields::kXForwarded);
}

TEST(DaemonConfigTest, AnAuthWithoutATokenDoesNotOpenTheFrontEnd) {
  for (const char* auth : {"{}", "{token: }", "{token: ''}", "{tokn: x}", "x", "{token: [a]}",
                           "{token_file: /nowhere/token}", "{token_file: /dev/null}"}) {
    for (const char* role : {"admin", "check"}) {
      EXPECT_NE(ErrorsOf("listeners: [{address: '0.0.0.0:1', role: " + std::string(role) +
                         ", auth: " + auth + "}]"),
                "")
          << auth;
    }
  }
  EXPECT_THAT(ErrorsOf("listeners: [{auth: {token: a, token_file: /dev/null}}]"),
              HasSubstr("keep only one"));
}

// As a template leaves them whose variable is not set: what they guard is not opened.
TEST(DaemonConfigTest, WhatGuardsIsNotEmpty) {
  for (const std::string empty : {"", "~", "null", "''"}) {
    for (const std::string text :
         {"listeners: [{auth: E}]", "listeners: [{tls: E}]",
          "listeners: [{tls: {cert: a, key: b, client_ca: E}}]",
          "listeners: [{tls: {cert: a, key: b, client_ca: c, client_name: E}}]",
          "listeners: [{auth: {token: a, token_file: E}}]", "store: {redis: {address: a, tls: E}}",
          "store: {redis: {address: a, tls: {ca: E}}}", "store: {redis: {address: a, username: E}}",
          "store: {redis: {address: a, password_file: E}}",
          "store: {redis: {sentinel: {primary: m, addresses: [a], password_file: E}}}",
          "rule_sources: [{etcd: {endpoints: ['https://a:1'], tls: E}}]",
          "rule_sources: [{etcd: {endpoints: ['https://a:1'], tls: {ca: E}}}]",
          "rule_sources: [{etcd: {endpoints: ['https://a:1'], auth: E}}]"}) {
      std::string config = text;
      config.replace(config.find(" E}") + 1, 1, empty);
      EXPECT_THAT(ErrorsOf(config), HasSubstr(" is empty: give it a value")) << config;
    }
  }
  EXPECT_EQ(ErrorsOf("table: ~\nlisteners: [{proxy: ~}]"), "");
}

TEST(DaemonConfigTest, ARespListenerHasItsAddressAndAPassword) {
  const DaemonConfig config = Read(
      "listeners: [{protocol: resp}, {auth: {password: secret}, protocol: resp, address: '*:1'}]");
  EXPECT_EQ(config.listeners[0].address, "127.0.0.1:6380");
  EXPECT_EQ(config.listeners[0].token, "");
  EXPECT_EQ(config.listeners[1].protocol, Protocol::kResp);
  EXPECT_EQ(config.listeners[1].token, "secret");
  EXPECT_NE(ErrorsOf("listeners: [{protocol: resp, auth: {password_file: /nowhere}}]"), "");
}

TEST(DaemonConfigTest, ReadsWhereRedisIs) {
  EXPECT_FALSE(Read("store: table").redis);
  const DaemonConfig config = Read(
      "store: {redis: {address: 'redis.example', database: 3, timeout: 25ms, tls: {server_name: "
      "other}}}");
  ASSERT_TRUE(config.redis);
  EXPECT_EQ(config.redis->servers.at(0).Text(), "redis.example:6379");
  EXPECT_EQ(config.redis->database, 3U);
  EXPECT_EQ(config.redis->timeout, std::chrono::milliseconds(25));
  ASSERT_TRUE(config.redis->tls);
  EXPECT_EQ(config.redis->tls->server_name, "other");
  EXPECT_EQ(Read("store: {redis: {address: a, lease: {keys: 7}}}").redis->lease_keys, 7U);
  EXPECT_EQ(Read("store: {redis: {address: 'unix:/run/redis.sock'}}").redis->timeout,
            std::chrono::milliseconds(10));
}

TEST(DaemonConfigTest, ReadsWhereEtcdIs) {
  const DaemonConfig config = Read(R"(
rule_sources:
  - etcd: {endpoints: ["http://etcd-1:2379", "etcd-2", "[::1]:99/"], prefix: /r/}
)");
  ASSERT_TRUE(config.etcd.has_value());
  EXPECT_THAT(config.etcd->endpoints,
              testing::ElementsAre("etcd-1:2379", "etcd-2:2379", "[::1]:99"));
  EXPECT_EQ(config.etcd->prefix, "/r/");
  EXPECT_FALSE(config.etcd->uses_tls);
  const DaemonConfig secure = Read("rule_sources: [{etcd: {endpoints: ['https://e:1']}}]");
  EXPECT_TRUE(secure.etcd->uses_tls);
  EXPECT_EQ(secure.etcd->prefix, "/ratelimit/rules/");
}

TEST(DaemonConfigTest, SaysWhatEtcdWants) {
  const auto errors = [](const std::string& etcd) {
    return ErrorsOf("rule_sources: [{etcd: " + etcd + "}]");
  };
  EXPECT_THAT(errors("{}"), HasSubstr("etcd needs endpoints"));
  EXPECT_THAT(errors("{endpoints: ['http://a/b']}"), HasSubstr("write http://HOST:2379"));
  EXPECT_THAT(errors("{endpoints: ['http://a', 'https://b']}"), HasSubstr("for the whole cluster"));
  EXPECT_THAT(errors("{endpoints: [a], prefix: ''}"), HasSubstr("prefix is empty"));
  EXPECT_THAT(errors("{endpoints: ['http://a'], tls: {ca: x}}"), HasSubstr("write https://"));
  EXPECT_THAT(errors("{endpoints: ['https://a'], tls: {ca: /nowhere}}"), HasSubstr("/nowhere"));
  EXPECT_THAT(errors("{endpoints: [a], auth: {username: u}}"), HasSubstr("a password_file"));
  EXPECT_THAT(ErrorsOf("rule_sources: [{etcd: {endpoints: [a]}}, {etcd: {endpoints: [b]}}]"),
              HasSubstr("one etcd cluster"));
}

TEST(DaemonConfigTest, ReadsSentinelsAndClusters) {
  const auto sentinel =
      Read("store: {redis: {sentinel: {primary: main, addresses: [a, 'b:1']}}}").redis;
  EXPECT_EQ(sentinel->kind, RedisKind::kSentinel);
  EXPECT_EQ(sentinel->primary, "main");
  EXPECT_EQ(sentinel->servers.at(0).Text(), "a:26379");
  EXPECT_EQ(sentinel->servers.at(1).Text(), "b:1");
  const auto cluster = Read("store: {redis: {cluster: [a, 'b:1']}}").redis;
  EXPECT_EQ(cluster->kind, RedisKind::kCluster);
  EXPECT_EQ(cluster->servers.at(0).Text(), "a:6379");
}

TEST(DaemonConfigTest, TellsAConfigurationFromAFileOfRules) {
  EXPECT_TRUE(LooksLikeDaemonConfig("listeners: []\nrules: []\n"));
  EXPECT_FALSE(LooksLikeDaemonConfig("rules: []\nattributes: {}\n"));
  EXPECT_FALSE(LooksLikeDaemonConfig("- a\n"));
}

}  // namespace
}  // namespace sluice::app
