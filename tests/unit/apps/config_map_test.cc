#include "config_map.h"

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "daemon_config.h"
#include "rules/value_reader.h"

namespace sluice::app {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// A field, and how a configuration is written in which it has a value.
struct Written {
  std::string path;  // "listeners[].role"
  const ConfigField* field;
  std::string before;
  std::string after;
};

void Collect(const ConfigMap& map, const Written& outer,  // NOLINT(misc-no-recursion)
             std::vector<Written>& all) {
  for (const ConfigField& field : map.fields) {
    Written own{.path = outer.path + (outer.path.empty() ? "" : ".") + std::string(field.name),
                .field = &field,
                .before = outer.before + std::string(field.name) + ": ",
                .after = outer.after};
    if (field.map == nullptr) {
      all.push_back(own);
      continue;
    }
    own.path += field.is_list ? "[]" : "";
    own.before += field.is_list ? "[{" : "{";
    own.after = (field.is_list ? "}]" : "}") + own.after;
    Collect(*field.map, own, all);
  }
}

std::vector<Written> AllFields() {
  std::vector<Written> all;
  Collect(kConfiguration, {}, all);
  return all;
}

DaemonConfig ReadWith(const Written& at, std::string_view value, std::string* errors = nullptr) {
  rules::Findings findings;
  DaemonConfig config =
      ReadDaemonConfig(at.before + std::string(value) + at.after + "\n", "", findings);
  for (const Error& error : findings.errors) {
    if (errors != nullptr) {
      *errors += error.Text() + "\n";
    }
  }
  return config;
}

TEST(ConfigMapTest, ACountIsReadWithinItsRangeOnly) {
  int counts = 0;
  for (const Written& at : AllFields()) {
    if (!at.field->most) {
      continue;
    }
    ++counts;
    const std::string complaint =
        fmt::format("{} must be {} to {}", at.field->name, *at.field->least, *at.field->most);
    for (const Units good : {*at.field->least, *at.field->most}) {
      std::string errors;
      (void)ReadWith(at, std::to_string(good), &errors);
      EXPECT_THAT(errors, Not(HasSubstr(complaint))) << at.path;
    }
    for (const Units bad : {*at.field->least - 1, *at.field->most + 1}) {
      std::string errors;
      (void)ReadWith(at, std::to_string(bad), &errors);
      EXPECT_THAT(errors, HasSubstr(complaint)) << at.path << ": " << bad;
    }
  }
  EXPECT_GT(counts, 5);
}

TEST(ConfigMapTest, AWordIsOneOfThoseOfItsField) {
  for (const Written& at : AllFields()) {
    for (const std::string_view word : at.field->words) {
      std::string errors;
      (void)ReadWith(at, at.field->is_list ? fmt::format("[{}]", word) : std::string(word),
                     &errors);
      EXPECT_THAT(errors, Not(HasSubstr(fmt::format("{} is", at.field->name)))) << at.path;
    }
    if (!at.field->words.empty()) {
      std::string errors;
      (void)ReadWith(at, at.field->is_list ? "[zzz]" : "zzz", &errors);
      EXPECT_NE(errors, "") << at.path;
    }
  }
}

// What the table says of a field that is left out is what a configuration without it has.
TEST(ConfigMapTest, LiteralDefaultsAreThoseInForce) {
  const auto duration = [](Duration value) { return rules::DurationText(value); };
  const auto word = [](const ConfigMap& map, const char* field, auto value) {
    return std::string(map[field].words[static_cast<std::size_t>(value)]);
  };
  const DaemonConfig config;
  const ListenerConfig listener = DefaultListeners().front();
  const RedisConfig redis;
  const EtcdConfig etcd;
  const EnvoyConfig envoy;
  const DecisionLogConfig decision_log;
  const OtlpConfig otlp;
  const std::map<std::string, std::string> in_force{
      {"listeners[].protocol", word(kListenerMap, "protocol", listener.protocol)},
      {"listeners[].role", word(kListenerMap, "role", listener.role)},
      {"listeners[].console", word(kListenerMap, "console", listener.console)},
      {"listeners[].limit_headers", listener.limit_headers == (frontend::http::kXRateLimitFields |
                                                               frontend::http::kDraft10Fields)
                                        ? "[x-ratelimit, draft-10]"
                                        : ""},
      {"listeners[].proxy.client_address", listener.proxy.forwarding.header},
      {"listeners[].proxy.request_fields",
       word(kProxyMap, "request_fields", listener.proxy.request_fields)},
      {"listeners[].proxy.paths.fold_case", listener.proxy.paths.fold_case ? "true" : "false"},
      {"listeners[].proxy.paths.encoded_slash",
       word(kProxyPathsMap, "encoded_slash", listener.proxy.paths.encoded_slash)},
      {"store.redis.database", std::to_string(redis.database)},
      {"store.redis.timeout", duration(redis.timeout)},
      {"store.redis.lease.keys", std::to_string(redis.lease_keys)},
      {"table.keys", std::to_string(config.table.keys)},
      {"table.when_full", word(kTableMap, "when_full", config.table.when_full)},
      {"table.snapshot_interval", duration(config.table.snapshot_interval)},
      {"rule_sources[].etcd.prefix", etcd.prefix},
      {"loops", std::to_string(config.loops)},
      {"connections", std::to_string(config.connections)},
      {"drain_timeout", duration(config.drain_timeout)},
      {"log.level", config.log_level},
      {"log.format", word(kLogMap, "format", config.log_format)},
      {"log.denial_summary", duration(config.denial_summary)},
      {"log.requests", std::to_string(config.log_requests)},
      {"envoy.merge_domains", envoy.files.reading.merge_domains ? "true" : "false"},
      {"envoy.semantics", envoy.settings.compatible ? "compatible" : "sluice"},
      {"decisions.mebibytes", std::to_string(config.decisions.mebibytes)},
      {"decision_log.sample", fmt::format("{}", decision_log.sample)},
      {"decision_log.denied_sample", fmt::format("{}", decision_log.denied_sample)},
      {"decision_log.max_bytes", std::to_string(decision_log.max_bytes)},
      {"decision_log.keep", std::to_string(decision_log.keep)},
      {"idempotency.keep", duration(config.idempotency.keep)},
      {"otlp.interval", duration(otlp.interval)},
      {"otlp.timeout", duration(otlp.timeout)},
      {"otlp.compression", otlp.gzip ? "gzip" : "none"},
      {"otlp.traces", otlp.traces ? "true" : "false"},
      {"otlp.service_name", otlp.service_name},
      {"idempotency.mebibytes", std::to_string(config.idempotency.mebibytes)},
      {"insight.hot_key_share", fmt::format("{:.0f}%", config.hot_keys.share * 100)},
      {"insight.hot_key_requests", std::to_string(config.hot_keys.requests)},
  };
  std::size_t literals = 0;
  for (const Written& at : AllFields()) {
    if (!at.field->fallback.is_literal) {
      continue;
    }
    ++literals;
    const auto found = in_force.find(at.path);
    ASSERT_NE(found, in_force.end()) << at.path << " has a default that this test does not know";
    const bool is_day = at.field->fallback.text == "24h" && found->second == "1d";
    EXPECT_TRUE(is_day || found->second == at.field->fallback.text)
        << at.path << ": " << found->second;
  }
  EXPECT_EQ(literals, in_force.size());
}

TEST(ConfigMapTest, TheReferenceNamesEveryFieldThatMayBeWritten) {
  const std::string reference = ConfigurationReference();
  for (const Written& at : AllFields()) {
    const std::string row = fmt::format("| `{}` |", at.field->name);
    if (!at.field->is_refused) {
      EXPECT_THAT(reference, HasSubstr(row)) << at.path;
      EXPECT_NE(at.field->meaning, "") << at.path;
    }
  }
  EXPECT_THAT(reference, HasSubstr("| `keys` | integer, 1 to 200000000 | `1000000` |"));
}

TEST(ConfigMapTest, TheFirstConfigurationReads) {
  rules::Findings findings;
  const DaemonConfig config = ReadDaemonConfig(FirstConfiguration(), "", findings);
  EXPECT_TRUE(findings.errors.empty()) << findings.errors.front().Text();
  EXPECT_EQ(config.listeners.size(), 2U);
  EXPECT_THAT(FirstConfiguration(), HasSubstr("# connections: 10000\n"));
}

}  // namespace
}  // namespace sluice::app
