#include <array>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "service/fallback.h"
#include "service/limiter_service.h"
#include "store/table.h"
#include "support/manual_clock.h"
#include "support/redis_proxy.h"
#include "support/redis_store_fixture.h"

// What goes wrong between a node and its Redis, done for real: whatever it is, every request is
// answered in time by its rule's policy, no more passes than what is said, nothing is left under
// way, and all is well again without a restart.
namespace sluice::redis {
namespace {

using std::chrono::milliseconds;
using support::LoopedRedisStore;
using support::RedisServer;
using support::WaitUntil;

constexpr Units kLimit = 1000;
constexpr Units kLocalLimit = 5;
constexpr const char* kRules = R"(
rules:
  - {id: open, match: {for: open}, key_pattern: "user:{user_id}", algorithm: fixed_window,
     limit: 1000, window: 3650d}
  - {id: shut, match: {for: shut}, key_pattern: "user:{user_id}", algorithm: gcra, rate: 1000,
     window: 3650d, on_store_error: deny}
  - {id: here, match: {for: here}, key_pattern: "user:{user_id}", algorithm: sliding_window_log,
     limit: 5, window: 3650d, on_store_error: local}
)";

std::shared_ptr<const rules::RuleSet> Rules() {
  rules::Findings findings;
  const rules::SourceText source{.name = "rules.yaml", .text = kRules};
  auto rules = rules::RuleSet::Build({&source, 1}, nullptr, findings);
  EXPECT_TRUE(findings.errors.empty());
  return rules;
}

// A request about one of the rules, which sees whether it is answered in time: its own timer, 2 ms
// behind the deadline, is run by the same loop and in order, however busy the machine is.
class Request final : public service::Completion {
 public:
  Request(net::EventLoop& loop, std::string rule, Duration within)
      : rule_(std::move(rule)), late_([this] { late = !answered; }) {
    attributes_ = {{{.name = "for", .value = rule_}, {.name = "user_id", .value = "u"}}};
    check.attributes = attributes_;
    operation.deadline = std::chrono::steady_clock::now() + within;
    loop.Arm(late_, operation.deadline + milliseconds(2), net::TimerPrecision::kExact);
  }

  void OnCompleted(service::Operation& /*operation*/) noexcept override {
    answered = true;
    allowed = check.verdict.allowed;
    decision = check.verdict.decisions.at(0).decision;
  }

  service::Operation operation{*this};
  service::RuleCheck& check = operation.Ask<service::RuleCheck>();
  bool answered = false;
  bool late = false;
  bool allowed = false;
  Decision decision;

 private:
  const std::string rule_;
  std::array<Attribute, 2> attributes_;
  net::Timer late_;
};

class RedisFaultTest : public ::testing::Test {
 protected:
  static constexpr Duration kPatience = std::chrono::seconds(20);
  static constexpr Duration kDeadline = milliseconds(10);

  RedisFaultTest() {
    RedisSettings settings = support::PatientSettings(server_);
    settings.target.path = server_.folder() + "/proxy.sock";
    settings.password_file = server_.folder() + "/password";
    settings.channel.probe_timeout = kPatience;
    std::ofstream(settings.password_file) << "";
    redis_ = std::make_unique<LoopedRedisStore>(settings, clock_);
    proxy_ = std::make_unique<support::RedisProxy>(redis_->loop(), server_.socket_path(),
                                                   settings.target.path);
    auto table =
        store::Table::Create({.path = {}, .keys = 100, .blocks = 100, .huge_pages = false}, clock_);
    local_ = *std::move(table);
    fallback_ = std::make_unique<service::Fallback>(*local_, redis_->store().nodes());
    service_ =
        std::make_unique<service::LimiterService>(redis_->store(), metrics_, fallback_.get());
    service_->SetRules(Rules());
    redis_->RunUntilUp();
  }

  Decision Ask(const std::string& rule, Duration within, bool peek = false) {
    Request request(redis_->loop(), rule, within);
    request.check.peek = peek;
    service_->Submit(request.operation);
    redis_->RunUntil([&] { return request.answered; });
    EXPECT_FALSE(request.late) << rule;
    return request.decision;
  }
  Units Left(const std::string& rule) {
    const Decision decision = Ask(rule, kPatience, /*peek=*/true);
    EXPECT_FALSE(decision.degraded) << redis_->events();
    return decision.remaining;
  }

  // As many requests as break a connection's patience, one after the other: each answered by its
  // rule's policy.
  void ExpectAnswersByPolicy() {
    for (int i = 0; i < 12; ++i) {
      const Decision open = Ask("open", kDeadline);
      EXPECT_TRUE(open.allowed);
      EXPECT_TRUE(open.degraded);
      const Decision shut = Ask("shut", kDeadline);
      EXPECT_FALSE(shut.allowed);
      EXPECT_EQ(shut.reason, Reason::kStoreUnavailable);
      const Decision here = Ask("here", kDeadline);
      EXPECT_TRUE(here.degraded);
      EXPECT_EQ(here.allowed, local_used_ < kLocalLimit);
      local_used_ += here.allowed ? 1 : 0;
    }
  }

  // Without a restart, and nothing is left of it.
  void ExpectRecovery() {
    while (Ask("open", kPatience, /*peek=*/true).degraded) {
      redis_->RunOne();  // It may have been refused at once, by a client that waits.
    }
    redis_->RunUntilIdle();
    for (const char* rule : {"open", "shut", "here"}) {
      const Units before = Left(rule);
      const Decision decision = Ask(rule, kPatience);
      EXPECT_TRUE(decision.allowed);
      EXPECT_FALSE(decision.degraded) << redis_->events();
      EXPECT_EQ(decision.remaining, before - 1);
    }
    redis_->RunUntilIdle();
    EXPECT_FALSE(redis_->channel().breaker_open());
  }

  void ChargeOneOfEach() {
    for (const char* rule : {"open", "shut", "here"}) {
      EXPECT_FALSE(Ask(rule, kPatience).degraded);
    }
  }
  void ExpectUsed(Units units) {
    EXPECT_EQ(Left("open"), kLimit - units);
    EXPECT_EQ(Left("shut"), kLimit - units);
    EXPECT_EQ(Left("here"), kLocalLimit - units);
  }

  base::SystemClock clock_;
  RedisServer server_;
  std::unique_ptr<LoopedRedisStore> redis_;
  std::unique_ptr<support::RedisProxy> proxy_;
  std::unique_ptr<store::Table> local_;
  service::ServiceMetrics metrics_;
  std::unique_ptr<service::Fallback> fallback_;
  std::unique_ptr<service::LimiterService> service_;
  Units local_used_ = 0;
};

TEST_F(RedisFaultTest, SlowButInTimeIsNoFault) {
  proxy_->DelayReplies(milliseconds(30));
  ChargeOneOfEach();
  ChargeOneOfEach();
  ExpectUsed(2);
  EXPECT_EQ(redis_->store().metrics().Read(RedisCount::kTimedOut), 0U);
}

// What comes too late was charged all the same, and is sent back.
TEST_F(RedisFaultTest, WhatComesTooLateIsAnsweredForAndGivenBack) {
  ChargeOneOfEach();
  proxy_->DelayReplies(milliseconds(60));
  ExpectAnswersByPolicy();
  proxy_->DelayReplies({});
  redis_->RunUntilIdle();
  ExpectRecovery();
  ExpectUsed(2);
  EXPECT_GE(redis_->store().metrics().Read(RedisCount::kLateCharges), 1U);
}

// At every byte of a reply: what was cut off is charged or not, and never twice.
TEST_F(RedisFaultTest, AConnectionCutWithinAReplyCostsThatRequestAtMost) {
  constexpr std::size_t kReplyBytes = 40;
  ChargeOneOfEach();
  Units answered = 1;
  Units cut_off = 0;
  for (std::size_t bytes = 1; bytes <= kReplyBytes; ++bytes) {
    while (Ask("shut", kPatience).degraded) {
      redis_->RunOne();  // The last connection was not known to be gone.
    }
    ++answered;  // On a connection whose script is loaded.
    proxy_->CutAfter(bytes);
    const Decision decision = Ask("shut", kPatience);
    EXPECT_FALSE(decision.degraded && decision.allowed);
    (decision.degraded ? cut_off : answered) += 1;
    while (proxy_->cuts()) {
      redis_->RunOne();  // The reply was shorter: the next one is cut.
      (void)Ask("shut", kPatience, /*peek=*/true);
    }
    redis_->RunUntilUp();
  }
  EXPECT_GT(cut_off, 20);
  EXPECT_EQ(Left("shut"), kLimit - answered - cut_off);
  ExpectRecovery();
  EXPECT_EQ(redis_->store().metrics().Read(RedisCount::kLateCharges), 0U);
}

TEST_F(RedisFaultTest, AKilledServerIsAnsweredFor) {
  ChargeOneOfEach();
  server_.Kill();
  ExpectAnswersByPolicy();
  server_.Start();
  ExpectRecovery();
  ExpectUsed(1);  // It has forgotten what was before.
}

TEST_F(RedisFaultTest, AStalledServerIsAnsweredForAndItsLateChargesGoBack) {
  ChargeOneOfEach();
  server_.Pause();
  ExpectAnswersByPolicy();
  server_.Resume();
  ExpectRecovery();
  ExpectUsed(2);
}

TEST_F(RedisFaultTest, AServerWithoutMemoryIsAnsweredFor) {
  ChargeOneOfEach();
  server_.Run({"CONFIG", "SET", "maxmemory", "1"});
  ExpectAnswersByPolicy();
  EXPECT_NE(redis_->events().find("OOM"), std::string::npos) << redis_->events();
  server_.Run({"CONFIG", "SET", "maxmemory", "0"});
  ExpectRecovery();
  ExpectUsed(2);
}

// It takes no writes that it cannot save: something stands where its file should be.
TEST_F(RedisFaultTest, AServerThatCannotWriteItsDiskIsAnsweredFor) {
  ChargeOneOfEach();
  const std::string file = server_.folder() + "/dump.rdb";
  const auto save = [this](std::string_view status) {
    server_.Run({"BGSAVE"});
    WaitUntil(
        [&] {
          const std::string info = server_.Run({"INFO", "persistence"});
          return info.find("rdb_bgsave_in_progress:0") != std::string::npos &&
                 info.find("rdb_last_bgsave_status:" + std::string(status)) != std::string::npos;
        },
        "the server has tried to save");
  };
  std::filesystem::create_directory(file);
  server_.Run({"CONFIG", "SET", "save", "3600 1000000"});
  save("err");
  ExpectAnswersByPolicy();
  EXPECT_NE(redis_->events().find("MISCONF"), std::string::npos) << redis_->events();
  std::filesystem::remove(file);
  save("ok");
  ExpectRecovery();
  ExpectUsed(2);
}

TEST_F(RedisFaultTest, AWrongPasswordIsAnsweredForUntilItsFileIsRight) {
  ChargeOneOfEach();
  server_.Run({"CONFIG", "SET", "requirepass", "changed"});
  server_.set_password("changed");
  const std::string file = server_.folder() + "/password";
  std::ofstream(file) << "wrong\n";
  proxy_->Cut();
  redis_->RunUntil([&] { return !redis_->channel().up(); });
  ExpectAnswersByPolicy();
  redis_->RunUntil([&] { return redis_->events().find("WRONGPASS") != std::string::npos; });
  std::ofstream(file) << "changed\n";
  ExpectRecovery();
  ExpectUsed(2);
}

TEST_F(RedisFaultTest, AServerThatBecomesAReplicaIsAnsweredForUntilItIsPromoted) {
  ChargeOneOfEach();
  server_.Run({"REPLICAOF", "127.0.0.1", "1"});  // Nobody there: it goes on as a replica.
  ExpectAnswersByPolicy();
  EXPECT_NE(redis_->events().find("READONLY"), std::string::npos) << redis_->events();
  server_.Run({"REPLICAOF", "NO", "ONE"});
  ExpectRecovery();
  ExpectUsed(2);
}

}  // namespace
}  // namespace sluice::redis
