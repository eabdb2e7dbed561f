#include <chrono>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "doctor/checks.h"
#include "doctor/gather.h"

namespace sluice::app::doctor {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::string FoundOn(const Facts& facts) {
  FindingList findings;
  CheckHost(facts, findings);
  CheckRedis(facts, findings);
  std::string lines;
  for (const Finding& finding : findings) {
    lines += std::string(NameOf(finding.severity)) + ' ' + std::string(finding.check) + ": " +
             ErrorOf(finding).message + '\n';
  }
  return lines;
}

Facts HealthyHost() {
  Facts facts;
  facts.configuration.emplace();
  facts.host = HostFacts{.knows_clock = true,
                         .clock_is_synchronised = true,
                         .listeners = {{.address = "127.0.0.1:8080", .processes = {"7"}}},
                         .daemon_files = 65'536,
                         .table_folder = "/dev/shm",
                         .free_bytes = std::uint64_t{1} << 30U,
                         .table_there = 0,
                         .table_needs = 112U << 20U};
  return facts;
}

TEST(HostChecksTest, AHealthyHostCausesNothing) {
  EXPECT_EQ(FoundOn(HealthyHost()), "");
}

TEST(HostChecksTest, AClockThatNobodySetsMattersWhereNodesShareOne) {
  Facts facts = HealthyHost();
  facts.host->clock_is_synchronised = false;
  EXPECT_THAT(FoundOn(facts), HasSubstr("note clock-not-synchronised"));
  facts.configuration->config.redis.emplace();
  EXPECT_THAT(FoundOn(facts), HasSubstr("warning clock-not-synchronised"));
  facts.host->knows_clock = false;
  EXPECT_EQ(FoundOn(facts), "");
}

TEST(HostChecksTest, FewerFilesThanConnectionsAreNamed) {
  Facts facts = HealthyHost();
  facts.host->daemon_files = 1024;
  EXPECT_THAT(FoundOn(facts),
              AllOf(HasSubstr("warning too-few-files: the daemon may open 1024 files"),
                    HasSubstr("LimitNOFILE=10064")));
}

TEST(HostChecksTest, SeveralDaemonsOnOnePortAreNamed) {
  Facts facts = HealthyHost();
  facts.host->listeners.front().processes = {"7", "8"};
  EXPECT_THAT(FoundOn(facts),
              HasSubstr("problem shared-port: 2 processes listen on 127.0.0.1:8080: 7, 8"));
}

TEST(HostChecksTest, ATableThatDoesNotFitIsNamed) {
  Facts facts = HealthyHost();
  facts.host->free_bytes = 64U << 20U;
  EXPECT_THAT(FoundOn(facts), HasSubstr("problem no-room-for-table: the table needs 112 MiB more, "
                                        "and /dev/shm has 64 MiB free"));
  facts.host->table_there = 112U << 20U;
  EXPECT_EQ(FoundOn(facts), "");
}

TEST(HostChecksTest, ThisHostCanBeLookedAt) {
  EXPECT_TRUE(LookAtHost(nullptr).listeners.empty());
}

Facts HealthyRedis() {
  Facts facts;
  facts.redis = {{.server = "redis.example:6379",
                  .clock_offset = std::chrono::milliseconds(3),
                  .round_trip = std::chrono::milliseconds(1),
                  .info = {{"redis_version", "7.0.15"},
                           {"role", "master"},
                           {"cluster_enabled", "0"},
                           {"maxmemory", "104857600"},
                           {"maxmemory_policy", "noeviction"},
                           {"used_memory", "1048576"},
                           {"evicted_keys", "0"},
                           {"aof_enabled", "1"},
                           {"rdb_last_bgsave_status", "ok"}}}};
  return facts;
}

std::string FoundWithInfo(const std::string& name, const std::string& value) {
  Facts facts = HealthyRedis();
  facts.redis.front().info[name] = value;
  return FoundOn(facts);
}

TEST(RedisChecksTest, AHealthyRedisCausesNothing) {
  EXPECT_EQ(FoundOn(HealthyRedis()), "");
}

TEST(RedisChecksTest, AClockFarFromThisHostsIsNamed) {
  Facts facts = HealthyRedis();
  facts.redis.front().clock_offset = std::chrono::milliseconds(-2500);
  EXPECT_THAT(FoundOn(facts),
              HasSubstr("warning redis-clock: the clock of Redis at redis.example:6379 is 2.5 s "
                        "behind this host's"));
  // A slow answer says nothing.
  facts.redis.front().round_trip = std::chrono::seconds(5);
  EXPECT_EQ(FoundOn(facts), "");
}

TEST(RedisChecksTest, SettingsThatLoseCountersAreNamed) {
  EXPECT_THAT(FoundWithInfo("maxmemory_policy", "allkeys-lru"),
              HasSubstr("warning redis-evicts: Redis at redis.example:6379 has maxmemory-policy "
                        "allkeys-lru"));
  EXPECT_THAT(FoundWithInfo("used_memory", "100000000"), HasSubstr("warning redis-full"));
  EXPECT_THAT(FoundWithInfo("aof_enabled", "0"), HasSubstr("note redis-persistence"));
  EXPECT_THAT(FoundWithInfo("rdb_last_bgsave_status", "err"),
              HasSubstr("warning redis-persistence"));
}

TEST(RedisChecksTest, AServerThatCannotServeIsNamed) {
  EXPECT_THAT(FoundWithInfo("role", "slave"), HasSubstr("problem redis-replica"));
  EXPECT_THAT(FoundWithInfo("redis_version", "6.2.14"), HasSubstr("problem redis-version"));
  EXPECT_THAT(FoundWithInfo("cluster_enabled", "1"), HasSubstr("problem redis-no-cluster"));
  Facts facts = HealthyRedis();
  facts.redis.front().expects_cluster = true;
  EXPECT_THAT(FoundOn(facts), HasSubstr("is no node of a cluster"));
  facts = HealthyRedis();
  facts.redis = {{.server = "redis.example:6379", .failure = "no answer in time"}};
  EXPECT_THAT(FoundOn(facts), HasSubstr("problem redis-no-answer"));
}

TEST(RedisChecksTest, ARedisThatIsAwayIsSaidToBe) {
  const RedisFacts facts = AskRedis({}, {.host = "127.0.0.1", .port = "1"});
  EXPECT_NE(facts.failure, "");
}

}  // namespace
}  // namespace sluice::app::doctor
