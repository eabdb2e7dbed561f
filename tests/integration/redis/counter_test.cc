#include <array>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "envoy/rate_limit_service.h"
#include "service/fallback.h"
#include "store/table.h"
#include "support/redis_store_fixture.h"
#include "support/rls_message.h"

// Envoy's limits in a Redis where envoyproxy/ratelimit counts too. The test is that service: it
// writes and reads as that one does, INCRBY and EXPIRE of `domain_key_value_start`.
namespace sluice::redis {
namespace {

using std::chrono::seconds;
using support::LoopedRedisStore;
using support::RedisServer;
using support::RlsDescriptorText;
using wire::RlsCode;

constexpr const char* kTree = R"(
domain: d
descriptors:
  - key: minute
    rate_limit: {unit: minute, requests_per_unit: 5}
  - key: second
    rate_limit: {unit: second, requests_per_unit: 5}
  - key: year
    rate_limit: {unit: year, requests_per_unit: 5}
  - key: period
    rate_limit: {period: 7s, requests_per_unit: 5}
  - key: bucket
    rate_limit: {unit: hour, requests_per_unit: 5, algorithm: token_bucket}
  - key: open
    rate_limit: {unit: minute, requests_per_unit: 5, on_store_error: allow}
  - key: here
    rate_limit: {unit: minute, requests_per_unit: 5, on_store_error: local}
)";

constexpr std::int64_t kNow = 1'234'567'890;  // In a minute that begins 30 s before.

// A node of ours, on a clock of the test's.
class Node {
 public:
  struct Call final : private service::CompletionOf<envoy::RateLimitCall>, envoy::RateLimitCall {
    Call() : RateLimitCall(static_cast<service::CompletionOf<RateLimitCall>&>(*this)) {}
    void OnCompleted(RateLimitCall& /*call*/) noexcept override { decided = true; }
    bool decided = false;
    wire::RlsRequest own;
    std::string bytes;
  };

  Node(const RedisSettings& settings, envoy::Settings rules,
       std::optional<RedisSettings> per_second = std::nullopt)
      : redis_(settings, clock_, std::move(per_second)) {
    clock_.StepWallClock(seconds(kNow) - Duration(support::ManualClock::kStartNs));
    table_ = *store::Table::Create({.path = "", .keys = 1000, .huge_pages = false}, clock_);
    fallback_ = std::make_unique<service::Fallback>(*table_, redis_.store().nodes());
    rules.old_counter_names = rules.compatible;
    service_ = std::make_unique<envoy::RateLimitService>(redis_.store(), clock_, metrics_,
                                                         std::move(rules), fallback_.get());
    pin_ = std::make_unique<envoy::ConfigurationPin>(*service_);
    rules::Findings findings;
    auto tree = envoy::Configuration::Read({{{.name = "f.yaml", .text = kTree}}}, {}, findings);
    EXPECT_NE(tree, nullptr);
    service_->SetConfiguration(std::move(tree));
  }

  Call& Ask(const std::vector<RlsDescriptorText>& descriptors) {
    call_.bytes = support::RlsRequestMessage("d", descriptors);
    EXPECT_TRUE(call_.own.Read(call_.bytes));
    call_.request = &call_.own;
    call_.decided = false;
    envoy::RateLimitCall* const one = &call_;
    service_->Decide({&one, 1}, *pin_);
    redis_.RunUntil([this] { return call_.decided; });
    return call_;
  }
  wire::RlsStatus AskOne(const std::string& key, const std::string& value, std::uint64_t hits = 1) {
    const Call& call = Ask({{.entries = {{key, value}}, .hits = hits}});
    EXPECT_EQ(call.failure, envoy::RateLimitCall::Failure::kNone) << redis_.events();
    return call.response.statuses.at(0);
  }

  Call& call() { return call_; }
  LoopedRedisStore& redis() { return redis_; }
  support::ManualClock& clock() { return clock_; }

 private:
  support::ManualClock clock_;
  LoopedRedisStore redis_;
  std::unique_ptr<store::Table> table_;
  std::unique_ptr<service::Fallback> fallback_;
  envoy::RateLimitMetrics metrics_;
  std::unique_ptr<envoy::RateLimitService> service_;
  std::unique_ptr<envoy::ConfigurationPin> pin_;
  Call call_;
};

class CounterTest : public ::testing::Test {
 protected:
  CounterTest() { Open({}); }

  // Counters outlive the test, however busy the machine is, unless it says otherwise.
  void Open(envoy::Settings rules, std::int64_t jitter_s = 1'000'000'000) {
    RedisSettings settings = support::PatientSettings(server_);
    settings.channel.terse = true;
    settings.channel.expiry_jitter_s = jitter_s;
    node_ = std::make_unique<Node>(settings, std::move(rules));
    node_->redis().RunUntilUp();
  }

  // As the old service does it for one descriptor.
  std::int64_t CountAsOld(const std::string& key, int hits, const std::string& expiry) {
    const std::string count = server_.Run({"INCRBY", key, std::to_string(hits)});
    server_.Run({"EXPIRE", key, expiry});
    return std::stol(count);
  }

  RedisServer server_;
  std::unique_ptr<Node> node_;
};

TEST_F(CounterTest, WhatTheOldServiceCountedCountsHere) {
  EXPECT_EQ(CountAsOld("d_minute_u_1234567860", 3, "60"), 3);
  const wire::RlsStatus status = node_->AskOne("minute", "u");
  EXPECT_EQ(status.code, RlsCode::kOk);
  EXPECT_EQ(status.limit_remaining, 1U);
  EXPECT_EQ(status.seconds_until_reset, 30);
  EXPECT_EQ(CountAsOld("d_minute_u_1234567860", 1, "60"), 5);
  EXPECT_EQ(node_->AskOne("minute", "u", 0).code, RlsCode::kOk);
  EXPECT_EQ(node_->AskOne("minute", "u").code, RlsCode::kOverLimit);
  EXPECT_EQ(node_->AskOne("minute", "u", 0).code, RlsCode::kOverLimit);
}

TEST_F(CounterTest, WhatCountsHereTheOldServiceReads) {
  (void)node_->AskOne("minute", "u", 2);
  (void)node_->AskOne("second", "u");
  (void)node_->AskOne("year", "u", 9);
  EXPECT_EQ(server_.Run({"GET", "d_minute_u_1234567860"}), "2");
  EXPECT_EQ(server_.Run({"GET", "d_second_u_1234567890"}), "1");
  EXPECT_EQ(server_.Run({"GET", "d_year_u_1229904000"}), "9");  // A denied hit is counted.
  (void)node_->AskOne("period", "u");                           // Which that service does not have.
  EXPECT_EQ(server_.Run({"GET", "d_period_u_1234567887"}), "1");
  EXPECT_EQ(server_.Run({"DBSIZE"}), "4");
  EXPECT_EQ(CountAsOld("d_minute_u_1234567860", 4, "60"), 6);
}

TEST_F(CounterTest, EveryHitGivesACounterItsWholeLifeAgain) {
  Open({}, /*jitter_s=*/0);
  for (int i = 0; i < 2; ++i) {
    (void)node_->AskOne("year", "u", static_cast<std::uint64_t>(i));
    const long ttl = std::stol(server_.Run({"TTL", "d_year_u_1229904000"}));
    EXPECT_GT(ttl, 31'536'000 - 60);
    EXPECT_LE(ttl, 31'536'000);
    server_.Run({"EXPIRE", "d_year_u_1229904000", "1000"});
  }
}

TEST_F(CounterTest, TwoNodesAndTheOldServiceShareOneLimit) {
  RedisSettings settings = support::PatientSettings(server_);
  Node other(settings, {});
  other.redis().RunUntilUp();
  int allowed = 0;
  for (int i = 0; i < 12; ++i) {
    if (i % 3 == 0) {
      allowed += CountAsOld("d_minute_u_1234567860", 1, "60") <= 5 ? 1 : 0;
    } else {
      Node& node = i % 3 == 1 ? *node_ : other;
      allowed += node.AskOne("minute", "u").code == RlsCode::kOk ? 1 : 0;
    }
  }
  EXPECT_EQ(allowed, 5);
  EXPECT_EQ(server_.Run({"GET", "d_minute_u_1234567860"}), "12");
}

TEST_F(CounterTest, AWindowEndsWhenTheSecondOfItsEndBegins) {
  (void)node_->AskOne("minute", "u", 5);
  node_->clock().Advance(seconds(30) - Duration(1));
  EXPECT_EQ(node_->AskOne("minute", "u", 0).limit_remaining, 0U);
  EXPECT_EQ(node_->AskOne("minute", "u", 0).seconds_until_reset, 1);
  node_->clock().Advance(Duration(1));
  EXPECT_EQ(node_->AskOne("minute", "u", 0).limit_remaining, 5U);
  EXPECT_EQ(server_.Run({"EXISTS", "d_minute_u_1234567920"}), "1");
}

TEST_F(CounterTest, OneCounterTwiceInOneRequestIsCountedTwiceInOrder) {
  const Node::Call& call = node_->Ask(
      {{.entries = {{"minute", "u"}}, .hits = 5}, {.entries = {{"minute", "u"}}, .hits = 1}});
  EXPECT_EQ(call.response.statuses.at(0).code, RlsCode::kOk);
  EXPECT_EQ(call.response.statuses.at(1).code, RlsCode::kOverLimit);
  EXPECT_EQ(server_.Run({"GET", "d_minute_u_1234567860"}), "6");
}

TEST_F(CounterTest, NegativeHitsEndAtNothing) {
  const std::vector<RlsDescriptorText> back{
      {.entries = {{"minute", "u"}}, .hits = 3, .negative = true}};
  EXPECT_EQ(CountAsOld("d_minute_u_1234567860", 7, "60"), 7);
  EXPECT_EQ(node_->Ask(back).response.statuses.at(0).code, RlsCode::kOk);
  EXPECT_EQ(server_.Run({"GET", "d_minute_u_1234567860"}), "4");
  (void)node_->Ask(back);
  (void)node_->Ask(back);
  EXPECT_EQ(server_.Run({"GET", "d_minute_u_1234567860"}), "0");
  EXPECT_EQ(node_->AskOne("minute", "u", 0).limit_remaining, 5U);
}

TEST_F(CounterTest, OurAlgorithmsKeepOurKeysInTheSameRequest) {
  const Node::Call& call =
      node_->Ask({{.entries = {{"bucket", "u"}}, .hits = 2}, {.entries = {{"minute", "u"}}}});
  ASSERT_EQ(call.failure, envoy::RateLimitCall::Failure::kNone);
  EXPECT_EQ(call.response.statuses.at(0).limit_remaining, 3U);
  EXPECT_EQ(call.response.statuses.at(1).limit_remaining, 4U);
  EXPECT_EQ(server_.Run({"DBSIZE"}), "2");
  EXPECT_EQ(server_.Run({"GET", "d_minute_u_1234567860"}), "1");
  EXPECT_NE(server_.Run({"KEYS", "sl1:*"}), "");
}

TEST_F(CounterTest, InOurSemanticsEveryKeyIsOurs) {
  Open({.compatible = false});
  EXPECT_EQ(node_->AskOne("minute", "u", 6).code, RlsCode::kOverLimit);
  EXPECT_EQ(node_->AskOne("minute", "u", 5).code, RlsCode::kOk);  // A denial costs nothing.
  EXPECT_EQ(server_.Run({"EXISTS", "d_minute_u_1234567860"}), "0");
}

TEST_F(CounterTest, CountingStopsWhereACounterWouldGoOver) {
  Open({.stop_counting_when_over = true});
  EXPECT_EQ(CountAsOld("d_minute_u_1234567860", 4, "60"), 4);
  const Node::Call& call =
      node_->Ask({{.entries = {{"minute", "u"}}, .hits = 2}, {.entries = {{"year", "u"}}}});
  EXPECT_EQ(call.response.statuses.at(0).code, RlsCode::kOverLimit);
  EXPECT_EQ(server_.Run({"GET", "d_minute_u_1234567860"}), "6");
  EXPECT_EQ(server_.Run({"GET", "d_year_u_1229904000"}), "0");
}

TEST_F(CounterTest, WhatIsKnownToBeOverIsNotCountedAgain) {
  Open({.over_limit_cache_bytes = 4096});
  EXPECT_EQ(node_->AskOne("minute", "u", 6).code, RlsCode::kOverLimit);
  EXPECT_EQ(node_->AskOne("minute", "u").code, RlsCode::kOverLimit);
  EXPECT_EQ(server_.Run({"GET", "d_minute_u_1234567860"}), "6");
}

TEST_F(CounterTest, SecondsAreCountedInARedisOfTheirOwn) {
  RedisServer other;
  RedisSettings seconds_settings = support::PatientSettings(other);
  seconds_settings.channel.expiry_jitter_s = 1'000'000'000;
  Node node(support::PatientSettings(server_), {}, seconds_settings);
  node.redis().RunUntilUp();
  (void)node.Ask({{.entries = {{"second", "u"}}},
                  {.entries = {{"minute", "u"}}},
                  {.entries = {{"x", "y"}}, .limit = {{5, 1}}}});
  EXPECT_EQ(server_.Run({"KEYS", "*"}), "d_minute_u_1234567860");
  EXPECT_EQ(other.Run({"GET", "d_second_u_1234567890"}), "1");
  EXPECT_EQ(other.Run({"GET", "d_x_y_1234567890"}), "1");
}

TEST_F(CounterTest, WithoutRedisACallFailsUnlessItsLimitsSayOtherwise) {
  (void)node_->AskOne("here", "u", 2);
  server_.Kill();
  node_->redis().RunUntil([&] { return !node_->redis().channel().up(); });
  EXPECT_EQ(node_->Ask({{.entries = {{"minute", "u"}}}}).failure,
            envoy::RateLimitCall::Failure::kStore);
  EXPECT_EQ(node_->AskOne("open", "u").code, RlsCode::kOk);
  // Locally the window is fresh, and then it is a limit like any other.
  EXPECT_EQ(node_->AskOne("here", "u", 5).limit_remaining, 0U);
  EXPECT_EQ(node_->AskOne("here", "u").code, RlsCode::kOverLimit);
  const std::string long_value(5000, 'x');
  EXPECT_EQ(node_->AskOne("here", long_value, 5).code, RlsCode::kOk);
  EXPECT_EQ(node_->AskOne("here", long_value).code, RlsCode::kOverLimit);
  server_.Start();
  node_->redis().RunUntilUp();
  EXPECT_EQ(node_->AskOne("minute", "u").limit_remaining, 4U);
}

TEST_F(CounterTest, AStalledRedisFailsACallByItsDeadline) {
  (void)node_->AskOne("minute", "u");
  server_.Pause();
  node_->call().deadline = std::chrono::steady_clock::now() + std::chrono::seconds(1);
  EXPECT_EQ(node_->Ask({{.entries = {{"minute", "u"}}}}).failure,
            envoy::RateLimitCall::Failure::kStore);
  server_.Resume();
  node_->call().deadline = store::StoreCall::Deadline::max();
  node_->redis().RunUntilIdle();
  EXPECT_EQ(node_->AskOne("minute", "u", 0).limit_remaining, 3U);  // The late hit counts.
}

// The rights that docs/envoy.md names for a Redis with Envoy's counters alone.
TEST_F(CounterTest, TheDocumentedRightsAreEnough) {
  server_.Run({"ACL", "SETUSER", "sluice", "on", ">secret", "~d_*", "resetchannels", "-@all",
               "+ping", "+auth", "+incrby", "+decrby", "+expire", "+get", "+exists", "+eval"});
  RedisSettings settings = support::PatientSettings(server_);
  settings.username = "sluice";
  settings.password = "secret";
  settings.channel.terse = true;
  Node node(settings, {.stop_counting_when_over = true});
  node.redis().RunUntilUp();
  EXPECT_EQ(node.AskOne("minute", "u", 2).limit_remaining, 3U);
  (void)node.Ask({{.entries = {{"minute", "u"}}, .hits = 5, .negative = true}});
  EXPECT_EQ(node.AskOne("minute", "u").limit_remaining, 4U);
  EXPECT_EQ(node.redis().events().find('-'), std::string::npos) << node.redis().events();
}

}  // namespace
}  // namespace sluice::redis
