#include <atomic>
#include <memory>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/service/service_fixture.h"

namespace sluice::service {
namespace {

using ::testing::ElementsAre;

using ReloadTest = ServiceTest;

// The scripted store takes notes, for one thread only.
class NoteFreeStore final : public store::KeyStore {
 public:
  void CheckMany(std::span<store::CheckCall* const> batch) override {
    for (store::CheckCall* const call : batch) {
      for (store::CheckAnswer& answer : call->answers) {
        answer = {.decision = {.allowed = true, .limit = 10, .remaining = 10}};
      }
      call->OnAnswered();
    }
  }
  void Refund(store::RefundCall& call) override { call.OnAnswered(); }
  void Reset(store::ResetCall& call) override { call.OnAnswered(); }
  void Release(store::HoldCall& call) override { call.OnAnswered(); }
  void Renew(store::HoldCall& call) override { call.OnAnswered(); }
};

TEST_F(ReloadTest, ACallUnderWayKeepsItsRulesAlive) {
  auto old = RulesOf("rules:\n" + RuleText("old"));
  const std::weak_ptr<const rules::RuleSet> watched = old;
  service.SetRules(std::move(old));
  store.late = true;
  TestCheck call;
  service.Submit(call.operation);

  Load(RuleText("new"));
  TestCheck other;
  service.Submit(
      other.operation);  // This thread has moved on; the first call holds the old set alone.
  EXPECT_FALSE(watched.expired());
  store.AnswerLast();
  EXPECT_THAT(other.last_rules, ElementsAre("new"));
  store.AnswerLast();
  EXPECT_THAT(call.last_rules, ElementsAre("old"));
  EXPECT_TRUE(watched.expired());
}

TEST_F(ReloadTest, CountersKeepTheirIdentity) {
  Load(RuleText("a") + RuleText("b"));
  TestCheck call;
  service.Submit(call.operation);
  Load(RuleText("b"));
  service.Submit(call.operation);
  EXPECT_EQ(metrics.Count("a", Outcome::kAllowed), 1U);
  EXPECT_EQ(metrics.Count("b", Outcome::kAllowed), 2U);
  Load(RuleText("b") + RuleText("a"));
  service.Submit(call.operation);
  EXPECT_EQ(metrics.Count("a", Outcome::kAllowed), 2U);
  EXPECT_EQ(metrics.Count("b", Outcome::kAllowed), 3U);
}

TEST_F(ReloadTest, NoRequestSeesHalfOfEach) {
  NoteFreeStore quiet;
  LimiterService shared(quiet, metrics);
  const auto one = RulesOf("rules:\n" + RuleText("a1") + RuleText("a2"));
  const auto two = RulesOf("rules:\n" + RuleText("b1") + RuleText("b2"));
  shared.SetRules(one);
  std::atomic<bool> stop{false};
  std::atomic<int> mixed{0};
  std::vector<std::thread> threads;
  threads.reserve(3);
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      TestCheck call;
      while (!stop.load()) {
        call.last_rules.clear();
        shared.Submit(call.operation);
        const bool whole = call.last_rules == std::vector<std::string>{"a1", "a2"} ||
                           call.last_rules == std::vector<std::string>{"b1", "b2"};
        mixed += whole ? 0 : 1;
      }
    });
  }
  for (int i = 0; i < 500; ++i) {
    shared.SetRules(i % 2 == 0 ? two : one);
  }
  stop = true;
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(mixed.load(), 0);
}

TEST_F(ReloadTest, AThreadMayServeManyServices) {
  std::vector<std::unique_ptr<LimiterService>> services;
  for (int i = 0; i < 9; ++i) {
    services.push_back(std::make_unique<LimiterService>(store, metrics));
    services.back()->SetRules(RulesOf("rules:\n" + RuleText("r" + std::to_string(i))));
  }
  for (int round = 0; round < 2; ++round) {
    for (std::size_t i = 0; i < services.size(); ++i) {
      TestCheck call;
      services[i]->Submit(call.operation);
      EXPECT_THAT(call.last_rules, ElementsAre("r" + std::to_string(i)));
    }
  }
}

}  // namespace
}  // namespace sluice::service
