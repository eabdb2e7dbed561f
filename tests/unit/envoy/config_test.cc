#include <chrono>
#include <memory>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "envoy/configuration.h"

namespace sluice::envoy {
namespace {

using namespace std::chrono_literals;  // NOLINT(google-build-using-namespace)
using By = DescriptorLevel::By;

std::shared_ptr<const Configuration> Read(const std::string& text) {
  rules::Findings findings;
  auto read = Configuration::Read({{{.name = "f.yaml", .text = text}}}, {}, findings);
  for (const Error& error : findings.errors) {
    ADD_FAILURE() << error.Text();
  }
  return read;
}

TEST(ConfigTest, ReadsATreeOfDescriptors) {
  const auto read = Read(R"(---
domain: mongo_cps
descriptors:
  - key: database
    value: users
    rate_limit: {unit: second, requests_per_unit: 500, name: db}
    shadow_mode: true
    quota_mode: true
    metadata: {team: {name: storage, size: 3}, loud: true}
  - key: database
    value: default
    rate_limit:
      unit: Minute
      requests_per_unit: 5
      replaces: [{name: db}]
    descriptors:
      - key: user
        rate_limit: {unlimited: true}
---
domain: passed over
)");
  ASSERT_NE(read, nullptr);
  EXPECT_EQ(read->domain_count(), 1U);
  EXPECT_EQ(read->Find("MONGO_CPS"), nullptr);
  const DescriptorLevel* level = read->Find("mongo_cps");
  ASSERT_NE(level, nullptr);
  const DescriptorNode* users = level->Find("database", "users").node;
  ASSERT_NE(users, nullptr);
  const Limit& limit = *users->limits.at(0);
  EXPECT_EQ(limit.path, "mongo_cps.database_users");
  EXPECT_EQ(limit.quota.algorithm, core::Algorithm::kAttemptWindow);
  EXPECT_EQ(limit.quota.limit, 500);
  EXPECT_EQ(limit.quota.window, Duration(1s));
  EXPECT_EQ(limit.unit, Unit::kSecond);
  EXPECT_EQ(limit.name, "db");
  EXPECT_TRUE(limit.shadow_mode);
  EXPECT_TRUE(limit.quota_mode);
  std::string json;
  limit.metadata.AppendJson(json);
  EXPECT_EQ(json, R"({"team":{"name":"storage","size":3},"loud":true})");
  const DescriptorNode* other = level->Find("database", "default").node;
  EXPECT_THAT(other->limits.at(0)->replaces, testing::ElementsAre("db"));
  EXPECT_TRUE(other->children.Find("user", "x").node->limits.at(0)->unlimited);
  EXPECT_EQ(level->Find("database", "orders").node, nullptr);
  EXPECT_EQ(read->limits().size(), 3U);
}

TEST(ConfigTest, TheExactValueComesFirstThenWildcardsInOrderThenTheKey) {
  const auto read = Read(R"(
domain: d
descriptors:
  - key: k
  - {key: k, value: "foo*"}
  - {key: k, value: "f*r"}
  - {key: k, value: foobar}
)");
  const DescriptorLevel& level = *read->Find("d");
  EXPECT_EQ(level.Find("k", "foobar").by, By::kValue);
  EXPECT_EQ(level.Find("k", "foor").node->value, "foo*");
  EXPECT_EQ(level.Find("k", "fur").node->value, "f*r");
  EXPECT_EQ(level.Find("k", "bar").by, By::kKey);
  EXPECT_EQ(level.Find("k", "").by, By::kKey);
  EXPECT_EQ(level.Find("other", "foobar").node, nullptr);
}

TEST(ConfigTest, ValuesMayBeExpressionsAndBlocksOfAddresses) {
  const auto read = Read(R"(
domain: d
descriptors:
  - {key: path, value_regex: "/v1/(users|teams)/[0-9]+"}
  - {key: path, value: "/v1/*"}
  - {key: path, value: "/v1/users/7"}
  - {key: remote_address, value_cidr: 10.0.0.0/8}
  - {key: remote_address, value_cidr: "2001:db8::/32"}
  - {key: remote_address}
)");
  const DescriptorLevel& level = *read->Find("d");
  EXPECT_EQ(level.Find("path", "/v1/users/7").by, By::kValue);
  EXPECT_EQ(level.Find("path", "/v1/users/8").node->value, "/v1/(users|teams)/[0-9]+");
  EXPECT_EQ(level.Find("path", "/v1/users/8/x").node->value, "/v1/*");
  EXPECT_EQ(level.Find("remote_address", "10.1.2.3").node->value, "10.0.0.0/8");
  EXPECT_EQ(level.Find("remote_address", "2001:db8::1").node->value, "2001:db8::/32");
  EXPECT_EQ(level.Find("remote_address", "192.0.2.1").by, By::kKey);
  // Its own text is no value of a pattern.
  EXPECT_EQ(level.Find("remote_address", "10.0.0.0/8").by, By::kKey);
}

TEST(ConfigTest, KeysAndValuesAreKeptApart) {
  const auto read = Read(R"(
domain: d
descriptors:
  - {key: a, value: b_c}
  - {key: a_b, value: c}
  - {key: k, value: "*"}
)");
  const DescriptorLevel& level = *read->Find("d");
  EXPECT_EQ(level.Find("a", "b_c").node->key, "a");
  EXPECT_EQ(level.Find("a_b", "c").node->key, "a_b");
  EXPECT_EQ(level.Find("a_b_c", "x").node, nullptr);
  EXPECT_EQ(level.Find("k_x", "y").node, nullptr);
}

TEST(ConfigTest, ScalarsAreReadAsTheirText) {
  const auto read = Read("domain: 7\ndescriptors: [{key: k, value: 123}, {key: k, value: yes}]\n");
  EXPECT_NE(read->Find("7")->Find("k", "123").node, nullptr);
  EXPECT_NE(read->Find("7")->Find("k", "yes").node, nullptr);
}

TEST(ConfigTest, MergeKeysAndKeysGivenTwiceAreReadAsByTheOldLibrary) {
  const auto read = Read(R"(
domain: a
domain: d
descriptors:
  - key: x
    rate_limit: &l {unit: day, requests_per_unit: 1}
  - key: y
    rate_limit: {<<: *l, requests_per_unit: 2}
)");
  const Limit& limit = *read->Find("d")->Find("y", "").node->limits.at(0);
  EXPECT_EQ(limit.requests_per_unit, 2U);
  EXPECT_EQ(limit.unit, Unit::kDay);
}

TEST(ConfigTest, ADescriptorMayHaveAListOfLimits) {
  const auto read = Read(R"(
domain: d
descriptors:
  - key: k
    shadow_mode: true
    quota_mode: true
    metadata: {team: one}
    rate_limits:
      - {unit: second, requests_per_unit: 10, name: burst}
      - {period: 15m, requests_per_unit: 500, algorithm: sliding_window, on_store_error: allow}
)");
  const auto& limits = read->Find("d")->Find("k", "").node->limits;
  ASSERT_EQ(limits.size(), 2U);
  EXPECT_EQ(read->limits().size(), 2U);
  EXPECT_EQ(limits[0]->name, "burst");
  EXPECT_EQ(limits[1]->quota.algorithm, core::Algorithm::kSlidingWindow);
  EXPECT_EQ(limits[1]->quota.window, Duration(15min));
  EXPECT_EQ(limits[1]->on_store_error, rules::OnStoreError::kAllow);
  for (const auto& limit : limits) {
    EXPECT_EQ(limit->path, "d.k");
    EXPECT_TRUE(limit->shadow_mode);
    EXPECT_TRUE(limit->quota_mode);
    EXPECT_FALSE(limit->metadata.is_null());
  }
}

TEST(ConfigTest, OneLineMakesABucketOfAFixedWindow) {
  const auto read = Read(R"(
domain: d
descriptors:
  - key: k
    rate_limit: {unit: minute, requests_per_unit: 60, algorithm: token_bucket, burst: 90, sync: lease}
  - key: p
    rate_limit: {period: 30s, requests_per_unit: 10, on_store_error: deny, sync: local}
)");
  const Limit& bucket = *read->Find("d")->Find("k", "").node->limits.at(0);
  EXPECT_EQ(bucket.quota.algorithm, core::Algorithm::kTokenBucket);
  EXPECT_EQ(bucket.quota.rate, 60);
  EXPECT_EQ(bucket.quota.limit, 90);
  const Limit& period = *read->Find("d")->Find("p", "").node->limits.at(0);
  EXPECT_EQ(period.quota.window, Duration(30s));
  EXPECT_EQ(period.requests_per_unit, 20U);
  EXPECT_EQ(period.unit, Unit::kMinute);
  EXPECT_EQ(period.on_store_error, rules::OnStoreError::kDeny);
  EXPECT_EQ(bucket.sync, core::Sync::kLease);
  EXPECT_EQ(period.sync, core::Sync::kLocal);
}

}  // namespace
}  // namespace sluice::envoy
