#include "envoy_environment.h"

#include <chrono>
#include <map>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sluice::app {
namespace {

using namespace std::chrono_literals;  // NOLINT(google-build-using-namespace)
using testing::ElementsAre;
using testing::HasSubstr;

class EnvoyEnvironmentTest : public testing::Test {
 protected:
  // The configuration by `variables`, and what is wrong in errors_.
  DaemonConfig Read(const std::map<std::string, std::string>& variables,
                    bool keep_listeners = false) {
    DaemonConfig config;
    rules::Findings findings;
    const Environment environment = [&](std::string_view name) -> std::optional<std::string> {
      const auto found = variables.find(std::string(name));
      return found == variables.end() ? std::nullopt : std::optional(found->second);
    };
    ApplyEnvoyEnvironment(environment, keep_listeners, config, findings);
    errors_.clear();
    for (const Error& error : findings.errors) {
      errors_.push_back(error.message);
    }
    return config;
  }

  std::vector<std::string> errors_;
};

TEST_F(EnvoyEnvironmentTest, DefaultsAreThoseOfTheOldServiceButForTheOperatorsFrontEnd) {
  const DaemonConfig config = Read({});
  EXPECT_THAT(errors_, ElementsAre());
  ASSERT_EQ(config.listeners.size(), 3U);
  EXPECT_EQ(config.listeners[0].address, "0.0.0.0:8080");
  EXPECT_EQ(config.listeners[1].address, "0.0.0.0:8081");
  EXPECT_EQ(config.listeners[1].protocol, Protocol::kGrpc);
  EXPECT_EQ(config.listeners[2].address, "127.0.0.1:6070");
  const EnvoyConfig& envoy = config.envoy.value();
  EXPECT_EQ(envoy.files.directory, "/srv/runtime_data/current/");
  EXPECT_EQ(envoy.files.prefix, "config.");
  EXPECT_TRUE(envoy.settings.compatible);
  EXPECT_EQ(envoy.max_connection_age, Duration(24h));
  EXPECT_EQ(config.log_level, "warn");
}

TEST_F(EnvoyEnvironmentTest, VariablesAreReadAsGoReadsThem) {
  const DaemonConfig config = Read({{"SHADOW_MODE", "T"},
                                    {"QUOTA_MODE", "1"},
                                    {"NEAR_LIMIT_RATIO", "0.5"},
                                    {"LOCAL_CACHE_SIZE_IN_BYTES", "4096"},
                                    {"GRPC_MAX_CONNECTION_AGE", "1h30m"},
                                    {"GRPC_HOST", "::1"},
                                    {"RUNTIME_ROOT", "/r"},
                                    {"RUNTIME_SUBDIRECTORY", "s"},
                                    {"RUNTIME_APPDIRECTORY", "a"},
                                    {"RUNTIME_WATCH_ROOT", "false"},
                                    {"LOG_LEVEL", "TRACE"},
                                    {"LOG_FORMAT", "json"},
                                    {"SLUICE_RETRY_AFTER", "true"},
                                    {"SLUICE_RATELIMIT_FIELDS", "true"},
                                    {"SLUICE_SEMANTICS", "sluice"}});
  EXPECT_THAT(errors_, ElementsAre());
  const EnvoyConfig& envoy = config.envoy.value();
  EXPECT_TRUE(envoy.settings.shadow_mode);
  EXPECT_TRUE(envoy.settings.quota_mode);
  EXPECT_EQ(envoy.settings.near_limit_ratio, 0.5F);
  EXPECT_EQ(envoy.settings.over_limit_cache_bytes, 4096U);
  EXPECT_FALSE(envoy.settings.compatible);
  EXPECT_TRUE(envoy.settings.retry_after_header);
  EXPECT_TRUE(envoy.settings.ratelimit_fields);
  EXPECT_EQ(envoy.max_connection_age, Duration(90min));
  EXPECT_EQ(envoy.files.directory, "/r/s/a");
  EXPECT_EQ(envoy.files.prefix, "");
  EXPECT_EQ(config.listeners[1].address, "[::1]:8081");
  EXPECT_EQ(config.log_level, "trace");
  EXPECT_EQ(config.log_format, LogFormat::kJson);
}

TEST_F(EnvoyEnvironmentTest, WhatCannotBeReadIsNamed) {
  for (const auto& [name, value] :
       std::map<std::string, std::string>{{"SHADOW_MODE", "yes"},
                                          {"NEAR_LIMIT_RATIO", "2"},
                                          {"LOCAL_CACHE_SIZE_IN_BYTES", "-1"},
                                          {"GRPC_MAX_CONNECTION_AGE", "1 day"},
                                          {"GRPC_PORT", "65536"},
                                          {"GRPC_HOST", "nowhere.example"},
                                          {"GRPC_SERVER_USE_TLS", "true"},
                                          {"CONFIG_TYPE", "GRPC_XDS_SOTW"},
                                          {"BACKEND_TYPE", "memcache"},
                                          {"LOG_LEVEL", "loud"},
                                          {"SLUICE_SEMANTICS", "old"}}) {
    (void)Read({{name, value}});
    EXPECT_THAT(errors_, ElementsAre(HasSubstr(name))) << value;
  }
}

TEST_F(EnvoyEnvironmentTest, AnOpenOperatorsFrontEndWantsAToken) {
  (void)Read({{"DEBUG_HOST", "0.0.0.0"}});
  EXPECT_THAT(errors_, ElementsAre(HasSubstr("SLUICE_ADMIN_TOKEN")));
  const DaemonConfig config = Read({{"DEBUG_HOST", "0.0.0.0"}, {"SLUICE_ADMIN_TOKEN", "t"}});
  EXPECT_THAT(errors_, ElementsAre());
  EXPECT_EQ(config.listeners[2].address, "0.0.0.0:6070");
}

TEST_F(EnvoyEnvironmentTest, AUnixSocketTakesThePlaceOfTheGrpcPort) {
  const DaemonConfig config = Read({{"GRPC_UDS", "/run/rl.sock"}, {"GRPC_PORT", "9"}});
  EXPECT_THAT(errors_, ElementsAre());
  ASSERT_EQ(config.listeners.size(), 3U);
  EXPECT_EQ(config.listeners[1].address, "unix:/run/rl.sock");
  EXPECT_EQ(config.listeners[1].protocol, Protocol::kGrpc);
}

TEST_F(EnvoyEnvironmentTest, AClientsNameWantsItsAuthority) {
  (void)Read({{"GRPC_SERVER_USE_TLS", "true"},
              {"GRPC_SERVER_TLS_CERT", "/nowhere.crt"},
              {"GRPC_SERVER_TLS_KEY", "/nowhere.key"},
              {"GRPC_CLIENT_TLS_SAN", "envoy"}});
  EXPECT_THAT(errors_, testing::Contains(HasSubstr("needs GRPC_CLIENT_TLS_CACERT")));
}

TEST_F(EnvoyEnvironmentTest, PrometheusHasAPortOfItsOwnWhereItIsAskedFor) {
  EXPECT_EQ(Read({{"PROMETHEUS_ADDR", ":7"}}).listeners.size(), 3U);
  DaemonConfig config = Read({{"USE_PROMETHEUS", "true"}});
  ASSERT_EQ(config.listeners.size(), 4U);
  EXPECT_EQ(config.listeners[3].address, ":9090");
  EXPECT_EQ(config.listeners[3].role, frontend::http::Role::kMetrics);
  EXPECT_EQ(config.listeners[3].metrics_path, "/metrics");
  config = Read({{"USE_PROMETHEUS", "true"},
                 {"PROMETHEUS_ADDR", "127.0.0.1:19001"},
                 {"PROMETHEUS_PATH", "/m"}});
  EXPECT_THAT(errors_, ElementsAre());
  EXPECT_EQ(config.listeners[3].address, "127.0.0.1:19001");
  EXPECT_EQ(config.listeners[3].metrics_path, "/m");
  (void)Read({{"USE_PROMETHEUS", "true"}, {"PROMETHEUS_ADDR", "9090"}});
  EXPECT_THAT(errors_, ElementsAre(HasSubstr("PROMETHEUS_ADDR")));
  (void)Read({{"USE_PROMETHEUS", "true"}, {"PROMETHEUS_PATH", "m"}});
  EXPECT_THAT(errors_, ElementsAre(HasSubstr("PROMETHEUS_PATH")));
}

TEST_F(EnvoyEnvironmentTest, ListenersOfAFileStand) {
  EXPECT_TRUE(Read({}, /*keep_listeners=*/true).listeners.empty());
}

TEST(EnvoyWarningTest, NamesWhatHasNoEffectOnceEachWithTheReason) {
  const std::vector<std::string> names{"HOME", "REDIS_AUTH", "REDIS_TYPE", "SHADOW_MODE",
                                       "STATSD_HOST"};
  const std::string warning = WarnOfUnheeded(names, {});
  EXPECT_THAT(warning, HasSubstr("REDIS_AUTH (REDIS_URL is not set"));
  EXPECT_THAT(warning, HasSubstr("STATSD_HOST (metrics are at"));
  EXPECT_THAT(warning, testing::Not(HasSubstr("HOME")));
  EXPECT_THAT(warning, testing::Not(HasSubstr("SHADOW_MODE")));
  EXPECT_EQ(WarnOfUnheeded({}, {}), "");
}

TEST(GoDurationTest, ReadsWhatGoWrites) {
  EXPECT_EQ(ReadGoDuration("150us"), Duration(150us));
  EXPECT_EQ(ReadGoDuration("1h30m"), Duration(90min));
  EXPECT_EQ(ReadGoDuration("1.5s"), Duration(1500ms));
  EXPECT_EQ(ReadGoDuration("0"), Duration(0));
  EXPECT_EQ(ReadGoDuration("-2s"), Duration(-2s));
  for (const char* text : {"", "1", "s", "1x", "1s2", "1 s", "--1s", "nan", "1e300h"}) {
    EXPECT_EQ(ReadGoDuration(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace sluice::app
