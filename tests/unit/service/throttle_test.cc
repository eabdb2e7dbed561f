#include <array>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/service/service_fixture.h"

namespace sluice::service {
namespace {

using ::testing::ElementsAre;

core::Quota TenAMinute() {
  core::Quota quota;
  quota.algorithm = core::Algorithm::kThrottle;
  quota.limit = 10;
  quota.rate = 10;
  quota.window = std::chrono::minutes(1);
  return quota;
}

class Throttling final : public Completion {
 public:
  explicit Throttling(std::string_view key = "k") {
    check_.Set(key, TenAMinute(), Cost{.units = 2});
  }
  void OnCompleted(Operation& /*operation*/) noexcept override { ++decided; }
  [[nodiscard]] const Decision& decision() const { return check_.decision(); }

  Operation operation{*this};
  int decided = 0;

 private:
  ThrottleCheck& check_ = operation.Ask<ThrottleCheck>();
};

class ThrottleCheckTest : public ServiceTest {
 protected:
  void Send(std::vector<Throttling*> calls) {
    std::vector<Operation*> batch;
    for (Throttling* const call : calls) {
      batch.push_back(&call->operation);
    }
    service.Submit(batch);
  }
};

TEST_F(ThrottleCheckTest, AsksByItsOwnNumbersUnderARuleThatNobodyCanHave) {
  std::vector<std::string> keys;
  store.script = [&keys](const store::Check& check) {
    EXPECT_EQ(check.quota.limit, 10);
    EXPECT_EQ(check.cost.units, 2);
    EXPECT_FALSE(check.shadow);
    keys.emplace_back(check.key.parts[0].value);
    return store::CheckAnswer{.decision = {.allowed = true, .limit = 10, .remaining = 8}};
  };
  Throttling a("a");
  Throttling b("b");
  Send({&a, &b});
  EXPECT_THAT(keys, ElementsAre("a", "b"));
  EXPECT_THAT(store.asked, ElementsAre("@cl.throttle", "@cl.throttle"));
  EXPECT_EQ(store.batches, 1U);
  EXPECT_EQ(a.decided, 1);
  EXPECT_EQ(a.decision().remaining, 8);

  rules::Findings findings;
  const rules::SourceText taken{.name = "r", .text = "rules:\n" + RuleText("\"@cl.throttle\"")};
  EXPECT_EQ(rules::RuleSet::Build({&taken, 1}, nullptr, findings), nullptr);
}

TEST_F(ThrottleCheckTest, NeedsNoRules) {
  Throttling call;
  Send({&call});
  EXPECT_EQ(call.decided, 1);
  EXPECT_TRUE(call.decision().allowed);
}

TEST_F(ThrottleCheckTest, LetsPassWhereTheStoreGivesNoAnswer) {
  store.call_error = store::StoreError::kUnavailable;
  Throttling call;
  Send({&call});
  EXPECT_TRUE(call.decision().allowed);
  EXPECT_TRUE(call.decision().degraded);
  EXPECT_EQ(call.decision().limit, 10);
  EXPECT_EQ(metrics.Count(kThrottleRule, Outcome::kDegradedAllowed), 1U);

  store.call_error = store::StoreError::kNone;
  store.script = [](const store::Check&) {
    return store::CheckAnswer{.error = store::StoreError::kUnavailable, .decision = {}};
  };
  Send({&call});
  EXPECT_TRUE(call.decision().allowed);
  EXPECT_EQ(metrics.Count(kThrottleRule, Outcome::kDegradedAllowed), 2U);
}

TEST_F(ThrottleCheckTest, AnswersComeInAnyOrder) {
  store.late = true;
  Throttling a;
  Throttling b;
  Send({&a, &b});
  EXPECT_EQ(a.decided + b.decided, 0);
  store.AnswerLast();
  EXPECT_EQ(b.decided, 1);
  store.AnswerLast();
  EXPECT_EQ(a.decided, 1);
}

TEST_F(ThrottleCheckTest, SplitsALargeBatch) {
  std::array<Throttling, 600> calls;
  std::vector<Operation*> all;
  for (Throttling& call : calls) {
    all.push_back(&call.operation);
  }
  service.Submit(all);
  EXPECT_EQ(store.asked.size(), 600U);
  EXPECT_EQ(metrics.Count(kThrottleRule, Outcome::kAllowed), 600U);
  EXPECT_LE(store.largest_batch, 256U);
}

class OneRuleTest : public ServiceTest {};

TEST_F(OneRuleTest, AsksTheNamedRuleAlone) {
  Load(RuleText("a") + RuleText("b") + RuleText("costly", ", cost: tokens"));
  TestCheck call;
  call.check.only_rule = "b";
  service.Submit(call.operation);
  EXPECT_EQ(call.verdict.request_error, "");
  EXPECT_THAT(store.asked, ElementsAre("b"));
  EXPECT_EQ(metrics.Count("a", Outcome::kAllowed), 0U);
}

TEST_F(OneRuleTest, CountsNoOtherRuleAsSkipped) {
  Load(RuleText("a") +
       "  - {id: by_ip, key_pattern: \"{ip}\", algorithm: fixed_window, limit: 5, "
       "window: 1m}\n");
  TestCheck call;
  call.check.only_rule = "a";
  service.Submit(call.operation);
  EXPECT_EQ(metrics.Count("by_ip", Outcome::kSkipped), 0U);
  call.check.only_rule = {};
  service.Submit(call.operation);
  EXPECT_EQ(metrics.Count("by_ip", Outcome::kSkipped), 1U);
}

TEST_F(OneRuleTest, WhatReplacesTheRuleStillDoes) {
  Load(RuleText("a") + RuleText("b", ", replaces: [a]"));
  TestCheck call;
  call.check.only_rule = "a";
  service.Submit(call.operation);
  EXPECT_TRUE(call.verdict.allowed);
  EXPECT_TRUE(call.verdict.decisions.empty());
}

TEST_F(OneRuleTest, FindsARuleByItsFormerName) {
  Load(RuleText("old"));
  Load(RuleText("new", ", formerly: old"));
  TestCheck call;
  call.check.only_rule = "old";
  service.Submit(call.operation);
  EXPECT_THAT(store.asked, ElementsAre("new"));
}

TEST_F(OneRuleTest, SaysThatThereIsNoSuchRule) {
  TestCheck early;
  early.check.only_rule = "a";
  service.Submit(early.operation);
  EXPECT_EQ(early.verdict.request_error, "there is no rule a");
  Load(RuleText("a"));
  TestCheck call;
  call.check.only_rule = "A\n";
  service.Submit(call.operation);
  EXPECT_FALSE(call.verdict.allowed);
  EXPECT_EQ(call.verdict.request_error, "there is no rule A?");
}

}  // namespace
}  // namespace sluice::service
