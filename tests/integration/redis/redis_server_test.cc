#include <array>
#include <chrono>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "core/calendar.h"
#include "support/redis_store_fixture.h"
#include "support/store_calls.h"

// RedisStore against a real server by its own clock, and what can happen to that server.
namespace sluice::redis {
namespace {

using core::Algorithm;
using core::Quota;
using std::chrono::milliseconds;
using store::StoreError;
using support::Answered;
using support::LoopedRedisStore;
using support::OwnedCheckCall;
using support::OwnedKey;
using support::QuotaOf;
using support::RedisServer;

store::CheckAnswer Ask(LoopedRedisStore& redis, const OwnedKey& key, const Quota& quota,
                       StoreError expected = StoreError::kNone, bool peek = false) {
  OwnedCheckCall call;
  call.Add({.key = key.view(), .quota = quota, .cost = {}});
  call.peek = peek;
  const std::array<store::CheckCall*, 1> batch{&call};
  redis.store().CheckMany(batch);
  redis.RunUntil([&] { return call.answers_got == 1; });
  EXPECT_EQ(call.error, expected) << redis.events();
  return call.own_answers[0];
}

int AskMany(std::vector<std::unique_ptr<LoopedRedisStore>>& stores, const OwnedKey& key,
            const Quota& quota, std::size_t each) {
  std::vector<OwnedCheckCall> calls(stores.size() * each);
  for (std::size_t i = 0; i < calls.size(); ++i) {
    calls[i].Add({.key = key.view(), .quota = quota, .cost = {}});
    const std::array<store::CheckCall*, 1> batch{&calls[i]};
    stores[i % stores.size()]->store().CheckMany(batch);
  }
  int allowed = 0;
  for (const auto& store : stores) {
    store->RunUntilIdle();
  }
  for (const OwnedCheckCall& call : calls) {
    EXPECT_EQ(call.error, StoreError::kNone);
    allowed += call.own_answers[0].decision.allowed ? 1 : 0;
  }
  return allowed;
}

class RedisServerTest : public ::testing::Test {
 protected:
  void Open(const redis::RedisSettings& settings) {
    redis_ = std::make_unique<LoopedRedisStore>(settings, clock_);
  }
  void OpenUp() {
    Open(support::PatientSettings(server_));
    redis_->RunUntilUp();
  }

  base::SystemClock clock_;
  RedisServer server_;
  std::unique_ptr<LoopedRedisStore> redis_;
};

TEST_F(RedisServerTest, KeysExpireWhenTheyAreFreshByTheServersClock) {
  OpenUp();
  const Quota quota = QuotaOf(Algorithm::kGcra, 60);
  const store::CheckAnswer answer = Ask(*redis_, OwnedKey("u"), quota);
  EXPECT_EQ(answer.decision.remaining, 59);
  EXPECT_EQ(answer.decision.reset_after, std::chrono::minutes(1));
  const std::string key = server_.Run({"KEYS", "*"});
  EXPECT_TRUE(key.ends_with(":r:gcra,3600000:user_id=u")) << key;
  const long ttl = std::stol(server_.Run({"PTTL", key}));
  EXPECT_GT(ttl, 50'000);
  EXPECT_LE(ttl, 60'000);
  for (const Algorithm algorithm : core::kStepsInRules) {
    server_.Run({"FLUSHALL"});
    (void)Ask(*redis_, OwnedKey("u"), QuotaOf(algorithm, 5));
    EXPECT_GT(std::stol(server_.Run({"PTTL", server_.Run({"KEYS", "*"})})), 0)
        << core::NameOf(algorithm);
  }
}

TEST_F(RedisServerTest, ACalendarsPeriodsAreThoseOfTheServersTime) {
  OpenUp();
  const auto day = *core::Calendar::Create(core::CalendarUnit::kDay, "UTC", "");
  Quota quota = QuotaOf(Algorithm::kFixedWindow, 5);
  quota.calendar = day.get();
  const store::CheckAnswer answer = Ask(*redis_, OwnedKey("u"), quota);
  EXPECT_EQ(answer.decision.remaining, 4);
  EXPECT_GT(answer.decision.reset_after, Duration(0));
  EXPECT_LE(answer.decision.reset_after, std::chrono::hours(24));
}

// A node whose clock is a year off sends the wrong periods, and is told.
TEST_F(RedisServerTest, ANodeWithAWrongClockAsksAgainWithTheRightPeriods) {
  support::ManualClock wrong;
  LoopedRedisStore redis(support::PatientSettings(server_), wrong);
  redis.RunUntilUp();
  const auto month = *core::Calendar::Create(core::CalendarUnit::kMonth, "Europe/Berlin", "15");
  Quota quota = QuotaOf(Algorithm::kFixedWindow, 5);
  quota.calendar = month.get();
  EXPECT_EQ(Ask(redis, OwnedKey("u"), quota).decision.remaining, 4);
  EXPECT_EQ(Ask(redis, OwnedKey("u"), quota).decision.remaining, 3);
}

TEST_F(RedisServerTest, SeveralNodesAdmitExactlyOneLimit) {
  std::vector<std::unique_ptr<LoopedRedisStore>> nodes;
  for (int i = 0; i < 3; ++i) {
    nodes.push_back(std::make_unique<LoopedRedisStore>(support::PatientSettings(server_), clock_));
    nodes.back()->RunUntilUp();
  }
  for (const Algorithm algorithm : core::kStepsInRules) {
    EXPECT_EQ(AskMany(nodes, OwnedKey("fleet"), QuotaOf(algorithm, 100), 50), 100)
        << core::NameOf(algorithm);
  }
}

TEST_F(RedisServerTest, NodesAreCountedWhileTheyLive) {
  redis::RedisSettings settings = support::PatientSettings(server_);
  settings.count_nodes = true;
  Open(settings);
  redis_->RunUntilUp();
  redis_->RunUntilIdle();
  // One that was there 20 s ago and has not come again since.
  const std::string now = server_.Run({"TIME"});
  const std::string gone = std::to_string(std::stol(now) - 20);
  const std::string there = std::to_string(std::stol(now) - 5);
  server_.Run({"ZADD", "sl1:{nodes}:nodes", gone, "gone", there, "there"});
  LoopedRedisStore second(settings, clock_);
  second.RunUntil([&] { return second.store().nodes() == 3; });
  EXPECT_EQ(server_.Run({"ZCARD", "sl1:{nodes}:nodes"}), "3");
  EXPECT_GT(std::stol(server_.Run({"PTTL", "sl1:{nodes}:nodes"})), 10'000);
}

TEST_F(RedisServerTest, FlushedScriptsAreSentAgainAndEveryCallCountsOnce) {
  OpenUp();
  const OwnedKey key("u");
  const Quota quota = QuotaOf(Algorithm::kFixedWindow, 100);
  (void)Ask(*redis_, key, quota);
  server_.Run({"SCRIPT", "FLUSH"});
  std::vector<OwnedCheckCall> calls(10);
  std::vector<store::CheckCall*> batch;
  for (OwnedCheckCall& call : calls) {
    call.Add({.key = key.view(), .quota = quota, .cost = {}});
    batch.push_back(&call);
  }
  redis_->store().CheckMany(batch);
  redis_->RunUntilIdle();
  for (std::size_t i = 0; i < calls.size(); ++i) {
    EXPECT_EQ(calls[i].error, StoreError::kNone);
    EXPECT_EQ(calls[i].own_answers[0].decision.remaining, 98 - static_cast<Units>(i));
  }
}

TEST_F(RedisServerTest, AKilledServerIsAnsweredForAndFoundAgain) {
  OpenUp();
  const OwnedKey key("u");
  const Quota quota = QuotaOf(Algorithm::kGcra, 10);
  (void)Ask(*redis_, key, quota);
  server_.Kill();
  redis_->RunUntil([&] { return !redis_->channel().up(); });
  OwnedCheckCall call;
  call.Add({.key = key.view(), .quota = quota, .cost = {}});
  call.deadline = std::chrono::steady_clock::now() + milliseconds(10);
  const std::array<store::CheckCall*, 1> batch{&call};
  redis_->store().CheckMany(batch);
  redis_->RunUntil([&] { return call.answers_got == 1; });
  EXPECT_EQ(call.error, StoreError::kDidNotRun);
  server_.Start();
  redis_->RunUntilUp();
  EXPECT_EQ(Ask(*redis_, key, quota).decision.remaining, 9);
}

TEST_F(RedisServerTest, AStalledServerIsAnsweredForLeftAloneAndItsLateChargesComeBack) {
  redis::RedisSettings settings = support::PatientSettings(server_);
  Open(settings);
  redis_->RunUntilUp();
  const OwnedKey key("u");
  const Quota quota = QuotaOf(Algorithm::kFixedWindow, 100);
  (void)Ask(*redis_, key, quota);
  server_.Pause();
  std::vector<OwnedCheckCall> calls(8);
  std::vector<store::CheckCall*> batch;
  const auto begin = std::chrono::steady_clock::now();
  for (OwnedCheckCall& call : calls) {
    call.Add({.key = key.view(), .quota = quota, .cost = {}});
    call.deadline = begin + std::chrono::seconds(1);
    batch.push_back(&call);
  }
  redis_->store().CheckMany(batch);
  redis_->RunUntil([&] { return calls.back().answers_got == 1; });
  EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::seconds(1));
  for (const OwnedCheckCall& call : calls) {
    EXPECT_EQ(call.error, StoreError::kUnavailable);
  }
  EXPECT_TRUE(redis_->channel().breaker_open());
  (void)Ask(*redis_, key, quota, StoreError::kDidNotRun);  // At once: the deadline is far.
  server_.Resume();
  redis_->RunUntil([&] { return !redis_->channel().breaker_open() && redis_->channel().up(); });
  redis_->RunUntilIdle();
  const store::CheckAnswer after = Ask(*redis_, key, quota, StoreError::kNone, /*peek=*/true);
  EXPECT_EQ(after.decision.remaining, 99);
  EXPECT_EQ(redis_->store().metrics().Read(RedisCount::kLateCharges), 8U);
}

TEST_F(RedisServerTest, APasswordIsReadAgainAtEveryDial) {
  server_.Run({"CONFIG", "SET", "requirepass", "right"});
  server_.set_password("right");
  const std::string file = server_.folder() + "/password";
  std::ofstream(file) << "wrong\n";
  redis::RedisSettings settings = support::PatientSettings(server_);
  settings.password_file = file;
  Open(settings);
  redis_->RunUntil([&] { return redis_->events().find("password") != std::string::npos; });
  EXPECT_NE(redis_->events().find("WRONGPASS"), std::string::npos) << redis_->events();
  std::ofstream(file) << "right\n";
  redis_->RunUntilUp();
  EXPECT_TRUE(Ask(*redis_, OwnedKey("u"), QuotaOf(Algorithm::kGcra, 1)).decision.allowed);
}

// The rights that docs/redis.md names.
TEST_F(RedisServerTest, TheDocumentedRightsAreEnough) {
  std::string name = "sluice";
  server_.Run({"ACL",
               "SETUSER",
               name,
               "on",
               ">secret",
               "~sl1:*",
               "resetchannels",
               "-@all",
               "+evalsha",
               "+script|load",
               "+ping",
               "+auth",
               "+select",
               "+client|setname",
               "+time",
               "+get",
               "+set",
               "+del",
               "+exists",
               "+rename",
               "+pexpire",
               "+lrange",
               "+lindex",
               "+lset",
               "+ltrim",
               "+lpush",
               "+rpush",
               "+rpop",
               "+hget",
               "+hgetall",
               "+hset",
               "+hdel",
               "+zadd",
               "+zremrangebyscore",
               "+zcard",
               "+scan"});
  const std::string file = server_.folder() + "/password";
  std::ofstream(file) << "secret";
  redis::RedisSettings settings = support::PatientSettings(server_);
  settings.username = name;
  settings.password_file = file;
  settings.count_nodes = true;
  Open(settings);
  redis_->RunUntilUp();
  for (const Algorithm algorithm : core::kRuleAlgorithms) {
    SCOPED_TRACE(core::NameOf(algorithm));
    const Quota quota = QuotaOf(algorithm, 10);
    (void)Ask(*redis_, OwnedKey("u", "old"), quota);
    const OwnedKey key("u", "new", "old");
    const store::CheckAnswer moved = Ask(*redis_, key, quota);
    EXPECT_EQ(moved.decision.remaining, 8);
    if (algorithm == Algorithm::kConcurrency) {
      Answered<store::HoldCall> release;
      release.key = key.view();
      release.quota = quota;
      release.hold = moved.hold;
      redis_->store().Release(release);
      redis_->RunUntilIdle();
      EXPECT_EQ(release.error, StoreError::kNone);
    } else {
      Answered<store::RefundCall> refund;
      refund.key = key.view();
      refund.quota = quota;
      refund.units = 1;
      redis_->store().Refund(refund);
      redis_->RunUntilIdle();
      EXPECT_EQ(refund.error, StoreError::kNone);
    }
    EXPECT_EQ(Ask(*redis_, key, quota, StoreError::kNone, true).decision.remaining, 9);
    const core::Ban ban{
        .after = 1, .within = std::chrono::seconds(1), .lasts = std::chrono::hours(1)};
    OwnedCheckCall too_much;
    too_much.Add({.key = key.view(), .quota = quota, .cost = {11}, .ban = &ban});
    store::CheckCall* const one = &too_much;
    redis_->store().CheckMany({&one, 1});
    Answered<store::BansCall> bans;
    redis_->store().ListBans(bans);
    redis_->RunUntilIdle();
    EXPECT_EQ(bans.error, StoreError::kNone);
    EXPECT_EQ(bans.bans.size(), 1U);
    Answered<store::BanCall> unban;
    unban.key = key.view();
    redis_->store().Unban(unban);
    redis_->RunUntilIdle();
    EXPECT_EQ(unban.error, StoreError::kNone);
    Answered<store::ResetCall> reset;
    reset.key = key.view();
    reset.quota = quota;
    redis_->store().Reset(reset);
    redis_->RunUntilIdle();
    EXPECT_EQ(reset.error, StoreError::kNone);
  }
  EXPECT_EQ(redis_->events().find('-'), std::string::npos) << redis_->events();
}

TEST_F(RedisServerTest, WithoutMemoryCallsThatWriteFailAndNothingIsHalfDone) {
  OpenUp();
  const Quota quota = QuotaOf(Algorithm::kFixedWindow, 10);
  (void)Ask(*redis_, OwnedKey("u"), quota);
  server_.Run({"CONFIG", "SET", "maxmemory", "1"});
  OwnedCheckCall call;
  const OwnedKey one("u");
  const OwnedKey two("v");
  call.Add({.key = one.view(), .quota = quota, .cost = {}});
  call.Add({.key = two.view(), .quota = quota, .cost = {}});
  const std::array<store::CheckCall*, 1> batch{&call};
  redis_->store().CheckMany(batch);
  redis_->RunUntilIdle();
  EXPECT_EQ(call.error, StoreError::kDidNotRun) << redis_->events();
  server_.Run({"CONFIG", "SET", "maxmemory", "0"});
  EXPECT_EQ(Ask(*redis_, one, quota, StoreError::kNone, true).decision.remaining, 9);
  EXPECT_EQ(Ask(*redis_, two, quota, StoreError::kNone, true).decision.remaining, 10);
}

TEST_F(RedisServerTest, AReplicaIsLeftUntilItIsThePrimary) {
  OpenUp();
  const OwnedKey key("u");
  const Quota quota = QuotaOf(Algorithm::kGcra, 10);
  (void)Ask(*redis_, key, quota);
  server_.Run({"REPLICAOF", "127.0.0.1", "1"});  // Nobody there: it goes on as a replica.
  OwnedCheckCall call;
  call.Add({.key = key.view(), .quota = quota, .cost = {}});
  const std::array<store::CheckCall*, 1> batch{&call};
  redis_->store().CheckMany(batch);
  redis_->RunUntil(
      [&] { return redis_->events().find("READONLY") != std::string::npos || call.answers_got; });
  server_.Run({"REPLICAOF", "NO", "ONE"});
  redis_->RunUntil([&] { return call.answers_got == 1; });
  EXPECT_EQ(call.error, StoreError::kNone) << redis_->events();
}

TEST_F(RedisServerTest, AKeyThatIsSomebodyElsesIsAnErrorAndStays) {
  OpenUp();
  const OwnedKey key("u");
  const Quota quota = QuotaOf(Algorithm::kGcra, 10);
  (void)Ask(*redis_, key, quota);
  const std::string name = server_.Run({"KEYS", "*"});
  server_.Run({"SET", name, "something else"});
  (void)Ask(*redis_, key, quota, StoreError::kUnavailable);
  EXPECT_EQ(server_.Run({"GET", name}), "something else");
}

}  // namespace
}  // namespace sluice::redis
