
#include <chrono>
#include <map>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "envoy_environment.h"

namespace sluice::app {
namespace {

using namespace std::chrono_literals;  // NOLINT(google-build-using-namespace)
using testing::ElementsAre;
using testing::HasSubstr;

class RedisEnvironmentTest : public testing::Test {
 protected:
  // What the variables make of `config`; what is wrong in errors_.
  DaemonConfig Read(const std::map<std::string, std::string>& variables, DaemonConfig config = {}) {
    rules::Findings findings;
    ApplyEnvoyEnvironment(
        [&](std::string_view name) -> std::optional<std::string> {
          const auto found = variables.find(std::string(name));
          return found == variables.end() ? std::nullopt : std::optional(found->second);
        },
        /*keep_listeners=*/true, config, findings);
    errors_.clear();
    for (const Error& error : findings.errors) {
      errors_.push_back(error.message);
    }
    return config;
  }

  std::vector<std::string> errors_;
};

TEST_F(RedisEnvironmentTest, WithoutAUrlTheTableIsTheStore) {
  EXPECT_FALSE(Read({{"REDIS_TYPE", "cluster"}, {"REDIS_AUTH", "secret"}}).redis);
  EXPECT_FALSE(Read({{"REDIS_URL", ""}}).redis);
  EXPECT_THAT(errors_, ElementsAre());
}

TEST_F(RedisEnvironmentTest, OneServerIsAHostOrAPath) {
  DaemonConfig config = Read({{"REDIS_URL", "redis.example:6380"}, {"REDIS_SOCKET_TYPE", "tcp"}});
  EXPECT_THAT(errors_, ElementsAre());
  ASSERT_TRUE(config.redis);
  EXPECT_EQ(config.redis->kind, RedisKind::kServer);
  EXPECT_EQ(config.redis->servers.at(0).Text(), "redis.example:6380");
  EXPECT_TRUE(config.redis->is_shared);
  EXPECT_EQ(config.redis->expiry_jitter_s, 300);
  EXPECT_EQ(config.redis->timeout, Duration(10ms));
  EXPECT_FALSE(config.redis_seconds);
  config = Read({{"REDIS_URL", "/run/redis.sock"}, {"EXPIRATION_JITTER_MAX_SECONDS", "0"}});
  EXPECT_EQ(config.redis->servers.at(0).path, "/run/redis.sock");
  EXPECT_EQ(config.redis->expiry_jitter_s, 0);
}

TEST_F(RedisEnvironmentTest, SentinelsAndClustersAreLists) {
  DaemonConfig config = Read({{"REDIS_TYPE", "sentinel"},
                              {"REDIS_URL", "mymaster,a:1,b:2"},
                              {"REDIS_AUTH", "pass"},
                              {"REDIS_SENTINEL_AUTH", "user:se:cret"}});
  EXPECT_THAT(errors_, ElementsAre());
  EXPECT_EQ(config.redis->kind, RedisKind::kSentinel);
  EXPECT_EQ(config.redis->primary, "mymaster");
  ASSERT_EQ(config.redis->servers.size(), 2U);
  EXPECT_EQ(config.redis->servers[1].Text(), "b:2");
  EXPECT_EQ(config.redis->username, "");
  EXPECT_EQ(config.redis->password, "pass");
  EXPECT_EQ(config.redis->sentinel_username, "user");
  EXPECT_EQ(config.redis->sentinel_password, "se:cret");
  config = Read({{"REDIS_TYPE", "CLUSTER"}, {"REDIS_URL", "a:1,b:2,c:3"}});
  EXPECT_EQ(config.redis->kind, RedisKind::kCluster);
  EXPECT_EQ(config.redis->servers.size(), 3U);
}

TEST_F(RedisEnvironmentTest, SecondsMayHaveARedisOfTheirOwn) {
  const DaemonConfig config = Read({{"REDIS_URL", "main:1"},
                                    {"REDIS_PERSECOND", "true"},
                                    {"REDIS_PERSECOND_URL", "seconds:2"},
                                    {"REDIS_PERSECOND_AUTH", "u:p"},
                                    {"SLUICE_REDIS_TIMEOUT", "25ms"},
                                    {"REDIS_TIMEOUT", "3s"}});
  EXPECT_THAT(errors_, ElementsAre());
  ASSERT_TRUE(config.redis_seconds);
  EXPECT_EQ(config.redis_seconds->servers.at(0).Text(), "seconds:2");
  EXPECT_EQ(config.redis_seconds->username, "u");
  EXPECT_EQ(config.redis->username, "");
  EXPECT_EQ(config.redis->timeout, Duration(25ms));
  EXPECT_EQ(config.redis_seconds->timeout, Duration(25ms));
  EXPECT_EQ(config.redis->dial_timeout, Duration(3s));
}

TEST_F(RedisEnvironmentTest, AFileThatNamesAStoreStands) {
  DaemonConfig file;
  file.names_store = true;
  file.redis = RedisConfig{.primary = "the file's"};
  const DaemonConfig config =
      Read({{"REDIS_URL", "other:1"}, {"EXPIRATION_JITTER_MAX_SECONDS", "7"}}, std::move(file));
  EXPECT_EQ(config.redis->primary, "the file's");
  EXPECT_EQ(config.redis->expiry_jitter_s, 7);
  const std::vector<std::string> names{"REDIS_URL", "CACHE_KEY_PREFIX"};
  EXPECT_EQ(WarnOfUnheeded(names, config),
            "without effect: REDIS_URL (the configuration file sets the store)");
}

TEST_F(RedisEnvironmentTest, TlsMayPassOverWhatTheServerIsCalled) {
  const DaemonConfig config = Read({{"REDIS_URL", "main:1"},
                                    {"REDIS_TLS", "true"},
                                    {"REDIS_TLS_SKIP_HOSTNAME_VERIFICATION", "true"}});
  EXPECT_THAT(errors_, ElementsAre());
  ASSERT_TRUE(config.redis->tls);
  EXPECT_TRUE(config.redis->tls->any_name);
}

TEST_F(RedisEnvironmentTest, WhatIsWrongIsNamed) {
  const std::vector<std::pair<std::map<std::string, std::string>, std::string>> wrong{
      {{{"REDIS_TYPE", "ring"}}, "REDIS_TYPE=ring is none of"},
      {{{"REDIS_TYPE", "sentinel"}}, "names no Sentinel"},
      {{{"REDIS_URL", "host:port:more"}}, "REDIS_URL=host:port:more"},
      {{{"REDIS_PERSECOND", "true"}}, "needs REDIS_PERSECOND_URL"},
      {{{"REDIS_TLS", "true"}, {"REDIS_TLS_CACERT", "/nowhere"}}, "/nowhere"},
      {{{"SLUICE_REDIS_TIMEOUT", "1h"}}, "SLUICE_REDIS_TIMEOUT=1h is not 1ms to 10s"},
      {{{"EXPIRATION_JITTER_MAX_SECONDS", "-1"}}, "EXPIRATION_JITTER_MAX_SECONDS=-1"},
  };
  for (auto [variables, text] : wrong) {
    variables.insert({"REDIS_URL", "main:1"});
    (void)Read(variables);
    EXPECT_THAT(errors_, ElementsAre(HasSubstr(text))) << text;
  }
}

TEST_F(RedisEnvironmentTest, WhatHasNoEffectIsNamedWithTheReason) {
  const DaemonConfig config = Read({{"REDIS_URL", "main:1"}});
  const std::vector<std::string> names{
      "REDIS_AUTH",      "REDIS_PERSECOND_AUTH",       "REDIS_PIPELINE_WINDOW",
      "REDIS_POOL_SIZE", "REDIS_STARTUP_MAX_INTERVAL", "REDIS_URL"};
  const std::string warning = WarnOfUnheeded(names, config);
  EXPECT_THAT(warning, HasSubstr("REDIS_POOL_SIZE (each worker thread has one connection"));
  EXPECT_THAT(warning, HasSubstr("REDIS_PIPELINE_WINDOW ("));
  EXPECT_THAT(warning, HasSubstr("REDIS_STARTUP_MAX_INTERVAL (Sluice starts without Redis"));
  EXPECT_THAT(warning, HasSubstr("REDIS_PERSECOND_AUTH (REDIS_PERSECOND is not true)"));
  EXPECT_THAT(warning, testing::Not(HasSubstr("REDIS_AUTH (")));
  EXPECT_THAT(warning, testing::Not(HasSubstr("REDIS_URL (")));
}

}  // namespace
}  // namespace sluice::app
