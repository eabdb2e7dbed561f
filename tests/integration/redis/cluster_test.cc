#include <array>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "redis/key_name.h"
#include "redis/slot_map.h"
#include "support/redis_store_fixture.h"
#include "support/store_calls.h"

// A Redis Cluster of three primaries, two of which have a replica.
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

class ClusterTest : public ::testing::Test {
 protected:
  struct Server {
    int port = FreePort();
    int bus = FreePort();
    RedisServer redis{{"--port", std::to_string(port), "--bind", "127.0.0.1", "--cluster-enabled",
                       "yes", "--cluster-port", std::to_string(bus), "--cluster-node-timeout",
                       "600", "--repl-diskless-sync-delay", "0",
                       "--cluster-replica-validity-factor", "0", "--cluster-require-full-coverage",
                       "no"}};
    std::string id = redis.Run({"CLUSTER", "MYID"});
  };

  ClusterTest() {
    constexpr std::array<const char*, 4> kBounds{"0", "5461", "10923", "16384"};
    for (std::size_t i = 0; i < 4; ++i) {
      servers_.push_back(std::make_unique<Server>());
      if (i < 3) {
        Run(i, {"CLUSTER", "ADDSLOTSRANGE", kBounds[i],
                std::to_string(std::stoi(kBounds[i + 1]) - 1)});
      }
      Run(i, {"CLUSTER", "SET-CONFIG-EPOCH", std::to_string(i + 1)});
    }
    for (std::size_t i = 1; i < 4; ++i) {
      Run(0, {"CLUSTER", "MEET", "127.0.0.1", std::to_string(servers_[i]->port),
              std::to_string(servers_[i]->bus)});
    }
    WaitUntil([&] { return Run(3, {"CLUSTER", "REPLICATE", servers_[0]->id}) == "OK"; },
              "the replica knows its primary");
    for (std::size_t i = 0; i < 4; ++i) {
      WaitUntil(
          [&] {
            const std::string info = Run(i, {"CLUSTER", "INFO"});
            return info.find("cluster_state:ok") != std::string::npos &&
                   info.find("cluster_slots_ok:16384") != std::string::npos &&
                   info.find("cluster_known_nodes:4") != std::string::npos;
          },
          "the cluster is whole");
    }
    WaitUntil(
        [&] { return Run(3, {"INFO", "replication"}).find("link_status:up") != std::string::npos; },
        "the replica is in step");
    RedisSettings settings;
    settings.cluster = {At(1)};
    settings.channel.deadline = std::chrono::seconds(20);
    redis_ = std::make_unique<LoopedRedisStore>(settings, clock_);
    redis_->RunUntilUp();
  }

  std::string Run(std::size_t server, std::initializer_list<std::string_view> args) {
    return servers_[server]->redis.Run(args);
  }
  [[nodiscard]] net::DialTarget At(std::size_t server) const {
    return {.host = "127.0.0.1", .port = std::to_string(servers_[server]->port), .path = {}};
  }

  // Asks one request, a check of each key.
  StoreError Ask(OwnedCheckCall& call, Duration deadline = std::chrono::seconds(20)) {
    call.deadline = std::chrono::steady_clock::now() + deadline;
    const std::array<store::CheckCall*, 1> batch{&call};
    redis_->store().CheckMany(batch);
    redis_->RunUntil([&] { return call.answers_got == 1; });
    return call.error;
  }
  store::CheckAnswer AskOne(const OwnedKey& key, const core::Quota& quota, bool peek = false,
                            Duration deadline = std::chrono::seconds(20)) {
    OwnedCheckCall call;
    call.Add({.key = key.view(), .quota = quota, .cost = {}});
    call.peek = peek;
    error_ = Ask(call, deadline);
    return call.own_answers[0];
  }

  // Which server has the key's slot at the start.
  static std::size_t HomeOf(const OwnedKey& key) {
    const std::uint16_t slot = SlotOf("r", key.view());
    return slot < 5461 ? 0 : slot < 10923 ? 1 : 2;
  }
  // A key of that server, by number.
  static std::unique_ptr<OwnedKey> KeyOn(std::size_t server, int number = 0) {
    for (int i = 0;; ++i) {
      auto key = std::make_unique<OwnedKey>("user" + std::to_string(i));
      if (HomeOf(*key) == server && number-- == 0) {
        return key;
      }
    }
  }

  base::SystemClock clock_;
  std::vector<std::unique_ptr<Server>> servers_;
  std::unique_ptr<LoopedRedisStore> redis_;
  StoreError error_ = StoreError::kNone;
};

TEST_F(ClusterTest, EveryKeyIsAskedWhereItLies) {
  for (int i = 0; i < 60; ++i) {
    const OwnedKey key("a}b{c" + std::to_string(i));
    EXPECT_EQ(AskOne(key, YearlyOf(5)).decision.remaining, 4);
    EXPECT_EQ(error_, StoreError::kNone) << redis_->events();
    support::Answered<store::RefundCall> refund;
    refund.key = key.view();
    refund.quota = YearlyOf(5);
    refund.units = 1;
    redis_->store().Refund(refund);
    redis_->RunUntilIdle();
    EXPECT_EQ(refund.error, StoreError::kNone);
    EXPECT_EQ(AskOne(key, YearlyOf(5)).decision.remaining, 4);
  }
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_GT(std::stoi(Run(i, {"DBSIZE"})), 5);
  }
}

// Counters of envoyproxy/ratelimit: each lies in the slot of its whole name, or of what stands in
// its first braces, and any client finds it there.
TEST_F(ClusterTest, CountersOfOneRequestLieWhereTheirNamesSay) {
  const Units year = 365 * 86'400;
  const Units start =
      clock_.Read().wall_clock.time_since_epoch() / std::chrono::seconds(1) / year * year;
  std::vector<std::unique_ptr<OwnedKey>> keys;
  OwnedCheckCall call;
  call.atomicity = store::Atomicity::kEach;
  for (int i = 0; i < 30; ++i) {
    const std::string value = i % 2 == 0 ? std::to_string(i) : "{v" + std::to_string(i) + "}";
    keys.push_back(std::make_unique<OwnedKey>("d_k_" + value + "_"));
    call.Add({.key = keys.back()->view(),
              .quota = YearlyOf(5, core::Algorithm::kAttemptWindow),
              .cost = Cost{7}});
  }
  const auto ours = KeyOn(0);
  call.Add({.key = ours->view(), .quota = YearlyOf(5), .cost = {}});
  EXPECT_EQ(Ask(call), StoreError::kNone) << redis_->events();
  EXPECT_EQ(call.own_answers.back().decision.remaining, 4);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    EXPECT_EQ(call.own_answers[i].error, StoreError::kNone);
    EXPECT_FALSE(call.own_answers[i].decision.allowed);
    const std::string name = std::string(keys[i]->view().parts[0].value) + std::to_string(start);
    const std::uint16_t slot = SlotOfKey(name);
    EXPECT_EQ(Run(slot < 5461 ? 0 : slot < 10923 ? 1 : 2, {"GET", name}), "7") << name;
  }
}

TEST_F(ClusterTest, ARequestOverSeveralSlotsIsChargedWholeOrNotAtAll) {
  const auto one = KeyOn(0);
  const auto two = KeyOn(1);
  const auto three = KeyOn(2);
  for (const core::Algorithm algorithm : core::kStepsInRules) {
    SCOPED_TRACE(core::NameOf(algorithm));
    for (int i = 0; i < 8; ++i) {
      OwnedCheckCall call;
      call.Add({.key = one->view(), .quota = YearlyOf(10, algorithm), .cost = {}});
      call.Add({.key = two->view(), .quota = YearlyOf(5, algorithm), .cost = {}});
      call.Add(
          {.key = three->view(), .quota = YearlyOf(20, algorithm), .cost = {}, .shadow = true});
      EXPECT_EQ(Ask(call), StoreError::kNone);
      redis_->RunUntilIdle();
      const bool allowed = i < 5;
      const int charged = std::min(i + 1, 5);
      EXPECT_TRUE(call.own_answers[0].decision.allowed);
      EXPECT_EQ(call.own_answers[0].charged, allowed);
      EXPECT_EQ(call.own_answers[0].decision.remaining, 10 - charged);
      EXPECT_EQ(call.own_answers[1].decision.allowed, allowed);
      EXPECT_EQ(call.own_answers[1].decision.remaining, 5 - charged);
      EXPECT_EQ(call.own_answers[2].charged, allowed);
      EXPECT_EQ(AskOne(*one, YearlyOf(10, algorithm), true).decision.remaining, 10 - charged) << i;
      EXPECT_EQ(AskOne(*three, YearlyOf(20, algorithm), true).decision.remaining, 20 - charged)
          << i;
    }
  }
  EXPECT_GT(redis_->store().metrics().Read(RedisCount::kUndos), 0U);
}

TEST_F(ClusterTest, BansAreKeptBesideTheirKeysAndListedFromAllServers) {
  constexpr core::Ban kSlotBan{
      .after = 2, .within = std::chrono::hours(1), .lasts = std::chrono::minutes(15)};
  for (std::size_t i = 0; i < 3; ++i) {
    const auto banned = KeyOn(i);
    const auto other = KeyOn((i + 1) % 3);
    // One unit passes, two denials ban; the other slot's part is taken back each time.
    for (const Reason reason : {Reason::kNone, Reason::kQuotaExceeded, Reason::kQuotaExceeded,
                                Reason::kBanned, Reason::kBanned}) {
      OwnedCheckCall call;
      call.Add({.key = banned->view(), .quota = YearlyOf(1), .cost = {}, .ban = &kSlotBan});
      call.Add({.key = other->view(), .quota = YearlyOf(10, core::Algorithm::kGcra), .cost = {}});
      EXPECT_EQ(Ask(call), StoreError::kNone);
      redis_->RunUntilIdle();
      EXPECT_EQ(call.own_answers[0].decision.reason, reason) << redis_->events();
    }
    EXPECT_EQ(AskOne(*other, YearlyOf(10, core::Algorithm::kGcra), true).decision.remaining, 9);
  }
  support::Answered<store::BansCall> list;
  redis_->store().ListBans(list);
  redis_->RunUntil([&] { return list.answers_got == 1; });
  EXPECT_EQ(list.error, StoreError::kNone) << redis_->events();
  EXPECT_EQ(list.bans.size(), 3U);
  support::Answered<store::BanCall> unban;
  const auto key = KeyOn(2);
  unban.key = key->view();
  redis_->store().Unban(unban);
  redis_->RunUntilIdle();
  EXPECT_EQ(unban.error, StoreError::kNone);
  redis_->store().ListBans(list);
  redis_->RunUntil([&] { return list.answers_got == 2; });
  EXPECT_EQ(list.bans.size(), 2U);
  servers_[1]->redis.Kill();
  redis_->store().ListBans(list);
  redis_->RunUntil([&] { return list.answers_got == 3; });
  EXPECT_NE(list.error, StoreError::kNone);
  EXPECT_TRUE(list.bans.empty());
}

TEST_F(ClusterTest, RecordsOfAnswersLieOnAllServers) {
  for (int i = 0; i < 40; ++i) {
    support::Answered<store::RecordCall> call;
    call.name = std::to_string(i) + "0000";
    call.body = "aa";
    call.lasts = std::chrono::minutes(1);
    call.answer = "yes";
    redis_->store().Keep(call);
    redis_->RunUntilIdle();
    redis_->store().Claim(call);
    redis_->RunUntilIdle();
    EXPECT_EQ(call.answers_got, 2);
    EXPECT_EQ(call.error, StoreError::kNone) << redis_->events();
    EXPECT_EQ(call.found, store::RecordCall::Found::kAnswered);
  }
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_GT(std::stoi(Run(i, {"DBSIZE"})), 2);
  }
}

TEST_F(ClusterTest, AServerThatIsAwayFailsItsOwnChecksOnly) {
  const auto there = KeyOn(0);
  const auto away = KeyOn(2);
  servers_[2]->redis.Kill();
  OwnedCheckCall call;
  call.Add({.key = there->view(), .quota = YearlyOf(10), .cost = {}});
  call.Add({.key = away->view(), .quota = YearlyOf(10), .cost = {}});
  EXPECT_EQ(Ask(call, std::chrono::seconds(2)), StoreError::kNone);
  EXPECT_EQ(call.own_answers[0].error, StoreError::kNone);
  EXPECT_TRUE(call.own_answers[0].charged);
  EXPECT_NE(call.own_answers[1].error, StoreError::kNone);
}

TEST_F(ClusterTest, AReplicaTakesOverUnderLoad) {
  const auto key = KeyOn(0);
  const core::Quota quota = YearlyOf(1000);
  for (int i = 0; i < 10; ++i) {
    (void)AskOne(*key, quota);
  }
  // WAIT would speak of its own connection's writes alone.
  const auto offset = [this](std::size_t server, std::string_view field) {
    const std::string info = Run(server, {"INFO", "replication"});
    const std::size_t at = info.find(field);
    return at == std::string::npos
               ? std::string()
               : info.substr(at + field.size(), info.find('\r', at) - at - field.size());
  };
  WaitUntil([&] { return offset(0, "master_repl_offset:") == offset(3, "slave_repl_offset:"); },
            "the replica has every write");
  servers_[0]->redis.Kill();
  store::CheckAnswer answer = AskOne(*key, quota, false, milliseconds(20));
  int unanswered = 0;
  int unknown = 0;  // Of these: it may have been charged, and answered too late.
  while (error_ != StoreError::kNone) {
    ++unanswered;
    unknown += error_ == StoreError::kDidNotRun ? 0 : 1;
    redis_->RunOne();  // It may have been refused at once.
    answer = AskOne(*key, quota, false, milliseconds(20));
  }
  EXPECT_GT(unanswered, 0);
  EXPECT_LE(answer.decision.remaining, 989);
  EXPECT_GE(answer.decision.remaining, 989 - unknown);
  EXPECT_EQ(Run(3, {"ROLE"}).substr(0, 6), "master");
}

// Slot by slot, with its keys, while requests go on: each unit counts once.
TEST_F(ClusterTest, ASlotMovesUnderLoadAndNothingIsLost) {
  const auto key = KeyOn(0);
  const OwnedKey other("user_of_nobody");
  const std::string slot = std::to_string(SlotOf("r", key->view()));
  const std::string port = std::to_string(servers_[1]->port);
  int allowed = 0;
  const auto ask = [&](int times) {
    std::vector<OwnedCheckCall> calls(static_cast<std::size_t>(times));
    std::vector<store::CheckCall*> batch;
    for (OwnedCheckCall& call : calls) {
      // Two keys of one slot: while one has moved and the other has not, TRYAGAIN.
      call.Add({.key = key->view(), .quota = YearlyOf(100), .cost = {}});
      call.Add({.key = key->view(), .quota = YearlyOf(500, core::Algorithm::kGcra), .cost = {}});
      batch.push_back(&call);
    }
    redis_->store().CheckMany(batch);
    redis_->RunUntilIdle();
    for (const OwnedCheckCall& call : calls) {
      if (call.error == StoreError::kNone && call.own_answers[0].decision.allowed) {
        ++allowed;
      } else if (call.error != StoreError::kNone) {
        EXPECT_EQ(call.error, StoreError::kDidNotRun);
      }
    }
  };
  ask(10);
  Run(1, {"CLUSTER", "SETSLOT", slot, "IMPORTING", servers_[0]->id});
  Run(0, {"CLUSTER", "SETSLOT", slot, "MIGRATING", servers_[1]->id});
  ask(10);  // Both keys are still there.
  std::string first;
  AppendKeyName("r", key->view(), YearlyOf(100), first);
  std::string second;
  AppendKeyName("r", key->view(), YearlyOf(500, core::Algorithm::kGcra), second);
  EXPECT_EQ(Run(0, {"MIGRATE", "127.0.0.1", port, first, "0", "5000"}), "OK");
  ask(5);  // One here, one there.
  EXPECT_EQ(Run(0, {"MIGRATE", "127.0.0.1", port, second, "0", "5000"}), "OK");
  ask(10);  // ASK
  Run(1, {"CLUSTER", "SETSLOT", slot, "NODE", servers_[1]->id});
  Run(0, {"CLUSTER", "SETSLOT", slot, "NODE", servers_[1]->id});
  ask(10);  // MOVED
  const int before = allowed;
  EXPECT_EQ(AskOne(*key, YearlyOf(100), true).decision.remaining, 100 - before) << redis_->events();
  EXPECT_GE(before, 40);
  ask(100);
  EXPECT_EQ(allowed, 100);
}

// A new key of a slot that is moving is made where it moves to, and its expiry goes along.
TEST_F(ClusterTest, ACounterOfASlotThatMovesGetsItsExpiryThere) {
  const Units year = 365 * 86'400;
  const Units start =
      clock_.Read().wall_clock.time_since_epoch() / std::chrono::seconds(1) / year * year;
  std::string value;
  std::uint16_t slot = kClusterSlots - 1;
  for (int i = 0; slot >= 5461; ++i) {  // Of the first server.
    value = "d_k_" + std::to_string(i) + "_";
    slot = SlotOfKey(value + std::to_string(start));
  }
  const std::string number = std::to_string(slot);
  Run(1, {"CLUSTER", "SETSLOT", number, "IMPORTING", servers_[0]->id});
  Run(0, {"CLUSTER", "SETSLOT", number, "MIGRATING", servers_[1]->id});
  const OwnedKey key(value);
  EXPECT_EQ(AskOne(key, YearlyOf(5, core::Algorithm::kAttemptWindow)).decision.remaining, 4);
  EXPECT_EQ(error_, StoreError::kNone) << redis_->events();
  redis_->RunUntilIdle();
  Run(1, {"CLUSTER", "SETSLOT", number, "NODE", servers_[1]->id});
  Run(0, {"CLUSTER", "SETSLOT", number, "NODE", servers_[1]->id});
  EXPECT_EQ(AskOne(key, YearlyOf(5, core::Algorithm::kAttemptWindow), true).decision.remaining, 4);
  EXPECT_GT(std::stol(Run(1, {"TTL", value + std::to_string(start)})), year - 60);
}

}  // namespace
}  // namespace sluice::redis
