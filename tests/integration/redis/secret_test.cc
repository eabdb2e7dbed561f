#include <chrono>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "redis/shared_secret.h"
#include "support/manual_clock.h"
#include "support/redis_store_fixture.h"

// The secret that all nodes of one Redis share.
namespace sluice::redis {
namespace {

using testing::ElementsAre;
using testing::MatchesRegex;

const std::string kKey(SecretCall::kKey);

class SecretTest : public testing::Test {
 protected:
  struct Node {
    explicit Node(SecretTest& test) : store(test.SettingsOf(*this), test.clock_) {}
    std::vector<std::string> received;
    support::LoopedRedisStore store;
  };

  RedisSettings SettingsOf(Node& node) {
    RedisSettings settings = support::PatientSettings(server_);
    settings.on_secret = [&node](std::string_view secret) { node.received.emplace_back(secret); };
    settings.secret_every = std::chrono::milliseconds(5);
    return settings;
  }
  std::string InRedis() { return server_.Run({"GET", kKey}); }

  support::ManualClock clock_;
  support::RedisServer server_;
};

TEST_F(SecretTest, TheFirstNodeMakesItAndTheOthersTakeIt) {
  Node one(*this);
  one.store.RunUntil([&] { return !one.received.empty(); });
  EXPECT_THAT(one.received[0], MatchesRegex("[0-9a-f]{64}"));
  Node two(*this);
  two.store.RunUntil([&] { return !two.received.empty(); });
  EXPECT_EQ(two.received, one.received);
  EXPECT_THAT(InRedis(), testing::HasSubstr(one.received[0]));
}

TEST_F(SecretTest, ARedisThatLostItsDataHasItAgain) {
  Node node(*this);
  node.store.RunUntil([&] { return !node.received.empty(); });
  const std::string before = InRedis();
  server_.Run({"FLUSHALL"});
  node.store.RunUntil([&] { return InRedis() == before; });
  EXPECT_EQ(node.received.size(), 1U);
}

TEST_F(SecretTest, AnotherOneIsFollowed) {
  Node node(*this);
  node.store.RunUntil([&] { return !node.received.empty(); });
  const std::string other(64, '5');
  server_.Run({"SET", kKey, other});
  node.store.RunUntil([&] { return node.received.size() > 1; });
  EXPECT_THAT(node.received, ElementsAre(node.received[0], other));
}

TEST_F(SecretTest, WhatIsNoSecretIsRefusedAndSaid) {
  server_.Run({"SET", kKey, "hello"});
  Node node(*this);
  node.store.RunUntil(
      [&] { return node.store.events().find("does not contain a secret") != std::string::npos; });
  EXPECT_TRUE(node.received.empty());
  server_.Run({"DEL", kKey});
  node.store.RunUntil([&] { return !node.received.empty(); });
}

}  // namespace
}  // namespace sluice::redis
