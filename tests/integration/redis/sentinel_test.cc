#include <array>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "support/redis_store_fixture.h"
#include "support/store_calls.h"

// Which server is the primary changes: by Sentinels, and behind one name.
namespace sluice::redis {
namespace {

using std::chrono::milliseconds;
using store::StoreError;
using support::FreePort;
using support::LoopedRedisStore;
using support::OwnedCheckCall;
using support::OwnedKey;
using support::RedisServer;
using support::WaitUntil;
using support::YearlyOf;

// Asks once, with this deadline: the answer, and whether there was one.
bool Ask(LoopedRedisStore& redis, const OwnedKey& key, Duration deadline, Decision& decision) {
  OwnedCheckCall call;
  call.Add({.key = key.view(), .quota = YearlyOf(100), .cost = {}});
  call.deadline = std::chrono::steady_clock::now() + deadline;
  const std::array<store::CheckCall*, 1> batch{&call};
  redis.store().CheckMany(batch);
  redis.RunUntil([&] { return call.answers_got == 1; });
  decision = call.own_answers[0].decision;
  if (call.error != StoreError::kNone) {
    redis.RunOne();  // It may have been refused at once, by a client that waits to dial again.
    return false;
  }
  return true;
}

// Writes are replicated in order: a replica that has this one has all before it. (WAIT speaks of
// its own connection's writes alone.)
void Replicate(RedisServer& from, RedisServer& to) {
  from.Run({"SET", "replicated", "yes"});
  WaitUntil([&] { return to.Run({"GET", "replicated"}).find("yes") != std::string::npos; },
            "the replica has every write");
}

// Hung up on in the middle of a change: not yet.
bool HasRole(RedisServer& server, std::string_view role) {
  return server.RunUnlessHungUp({"ROLE"}).value_or("").starts_with(role);
}

class SentinelTest : public ::testing::Test {
 protected:
  static std::vector<std::string> OnPort(int port) {
    return {"--port",    std::to_string(port),         "--bind",
            "127.0.0.1", "--repl-diskless-sync-delay", "0"};
  }
  static net::DialTarget At(int port) {
    return {.host = "127.0.0.1", .port = std::to_string(port), .path = {}};
  }

  SentinelTest() {
    second_.Run({"REPLICAOF", "127.0.0.1", std::to_string(first_port_)});
    WaitUntil(
        [&] {
          return second_.Run({"INFO", "replication"}).find("link_status:up") != std::string::npos;
        },
        "the replica is in step");
    sentinel_ = RedisServer::Sentinel(sentinel_port_, first_port_);
    // It learns of the replica from the primary.
    WaitUntil(
        [&] { return SentinelSays("sentinel replicas mymaster", std::to_string(second_port_)); },
        "the Sentinel knows the replica");
    RedisSettings settings;
    // The first one is not there.
    settings.sentinel = {.sentinels = {At(FreePort()), At(sentinel_port_)}, .primary = "mymaster"};
    settings.channel.deadline = std::chrono::seconds(20);
    redis_ = std::make_unique<LoopedRedisStore>(settings, clock_);
  }

  // Whether this is in the Sentinel's answer.
  [[nodiscard]] bool SentinelSays(const std::string& command, const std::string& text) const {
    const std::string run = "redis-cli -p " + std::to_string(sentinel_port_) + " " + command +
                            " 2>&1 | grep -q " + text;
    return std::system(run.c_str()) == 0;  // NOLINT: commands of this test's.
  }

  base::SystemClock clock_;
  const int first_port_ = FreePort();
  const int second_port_ = FreePort();
  const int sentinel_port_ = FreePort();
  RedisServer first_{OnPort(first_port_)};
  RedisServer second_{OnPort(second_port_)};
  std::unique_ptr<RedisServer> sentinel_;
  std::unique_ptr<LoopedRedisStore> redis_;
};

TEST_F(SentinelTest, ThePrimaryIsFoundAndFollowedWhenItDies) {
  redis_->RunUntilUp();
  const OwnedKey key("u");
  Decision decision;
  for (int i = 0; i < 10; ++i) {
    ASSERT_TRUE(Ask(*redis_, key, std::chrono::seconds(20), decision));
  }
  EXPECT_EQ(decision.remaining, 90);
  Replicate(first_, second_);
  first_.Kill();
  // Under load all the while; what is not answered is over in time.
  int unanswered = 0;
  while (!Ask(*redis_, key, milliseconds(20), decision)) {
    ++unanswered;
  }
  EXPECT_GT(unanswered, 0);
  // What was not answered in time may have been charged all the same.
  EXPECT_LE(decision.remaining, 89) << redis_->events();
  EXPECT_GE(decision.remaining, 89 - unanswered) << redis_->events();
  WaitUntil([&] { return HasRole(second_, "master"); }, "the second is the primary");
  EXPECT_NE(redis_->events().find("cannot use the Sentinel"), std::string::npos);
}

TEST_F(SentinelTest, APlannedFailoverIsFollowed) {
  redis_->RunUntilUp();
  const OwnedKey key("u");
  Decision decision;
  ASSERT_TRUE(Ask(*redis_, key, std::chrono::seconds(20), decision));
  Replicate(first_, second_);
  // It may say NOGOODSLAVE until it has heard of the replica's state.
  WaitUntil([&] { return SentinelSays("sentinel failover mymaster", "OK"); },
            "the Sentinel begins a failover");
  const Units last = decision.remaining;
  // Under load all the while.
  while (!HasRole(first_, "slave")) {
    (void)Ask(*redis_, key, milliseconds(20), decision);
  }
  while (!Ask(*redis_, key, milliseconds(20), decision)) {
  }
  EXPECT_LT(decision.remaining, last);
  WaitUntil([&] { return HasRole(second_, "master"); }, "the second is the primary");
}

// The name stays, the server behind it changes, and the new one lacks the last writes: those are
// granted again, and nothing else.
TEST(PromotionTest, LostWritesAreGrantedAgainAndNoMore) {
  base::SystemClock clock;
  RedisServer first;
  const int port = FreePort();
  first.Run({"CONFIG", "SET", "bind", "127.0.0.1"});
  first.Run({"CONFIG", "SET", "port", std::to_string(port)});
  RedisServer second({"--repl-diskless-sync-delay", "0"});
  const std::string name = first.folder() + "/current.sock";
  std::filesystem::create_symlink(first.socket_path(), name);
  RedisSettings settings;
  settings.target.path = name;
  settings.channel.deadline = std::chrono::seconds(20);
  LoopedRedisStore redis(settings, clock);
  redis.RunUntilUp();
  const OwnedKey key("u");
  Decision decision;
  int admitted = 0;
  const auto ask = [&] {
    if (Ask(redis, key, std::chrono::seconds(20), decision) && decision.allowed) {
      ++admitted;
    }
  };
  for (int i = 0; i < 60; ++i) {
    ask();
  }
  second.Run({"REPLICAOF", "127.0.0.1", std::to_string(port)});
  WaitUntil(
      [&] {
        return second.Run({"INFO", "replication"}).find("link_status:up") != std::string::npos;
      },
      "the replica is in step");
  second.Run({"REPLICAOF", "NO", "ONE"});  // Cut off; 7 more are written that it does not get.
  for (int i = 0; i < 7; ++i) {
    ask();
  }
  EXPECT_EQ(decision.remaining, 33);
  std::filesystem::remove(name);
  std::filesystem::create_symlink(second.socket_path(), name);
  first.Kill();
  redis.RunUntil([&] { return !redis.channel().up(); });
  redis.RunUntilUp();
  for (int i = 0; i < 60; ++i) {
    ask();
  }
  EXPECT_EQ(admitted, 100 + 7);
}

}  // namespace
}  // namespace sluice::redis
