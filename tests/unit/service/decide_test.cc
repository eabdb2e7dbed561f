#include <array>
#include <deque>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/service/service_fixture.h"

namespace sluice::service {
namespace {

using std::chrono::seconds;
using ::testing::ElementsAre;

using DecideTest = ServiceTest;

Decision DeniedFor(Duration wait) {
  return {.reason = Reason::kQuotaExceeded, .limit = 10, .retry_after = wait};
}

TEST_F(DecideTest, AllowsWhereNoRuleApplies) {
  TestCheck call(Attribute{.name = "other", .value = "x"});
  service.Submit(call.operation);  // Before any rules.
  EXPECT_TRUE(call.verdict.allowed);
  Load(RuleText("r"));
  service.Submit(call.operation);
  EXPECT_EQ(call.answered, 2);
  EXPECT_TRUE(call.verdict.allowed);
  EXPECT_EQ(call.verdict.governing, -1);
  EXPECT_EQ(store.batches, 0U);
  EXPECT_EQ(metrics.Count(RequestResult::kNoRule), 2U);
  EXPECT_EQ(metrics.Count("r", Outcome::kSkipped), 1U);
}

TEST_F(DecideTest, TakesTheNumbersOfTheDenyingRuleWithTheLongestWait) {
  Load(RuleText("a") + RuleText("b") + RuleText("c"));
  Answer("a", DeniedFor(seconds(2)));
  Answer("b", DeniedFor(seconds(7)));
  TestCheck call;
  service.Submit(call.operation);
  EXPECT_FALSE(call.verdict.allowed);
  EXPECT_EQ(call.verdict.governing, 1);
  EXPECT_TRUE(call.verdict.decisions[2].decision.allowed);
  EXPECT_EQ(metrics.Count("b", Outcome::kDenied), 1U);
  EXPECT_EQ(metrics.Count("c", Outcome::kAllowed), 1U);
  EXPECT_EQ(metrics.Count(RequestResult::kDenied), 1U);
}

TEST_F(DecideTest, ADenialWaitsForNothing) {
  Load(RuleText("a") + RuleText("b"));
  Answer("a", {.allowed = true, .limit = 10, .remaining = 1, .wait = seconds(3)});
  TestCheck call;
  service.Submit(call.operation);
  EXPECT_EQ(call.verdict.wait, seconds(3));
  Answer("b", DeniedFor(seconds(1)));
  service.Submit(call.operation);
  EXPECT_EQ(call.verdict.wait, Duration{});
}

TEST_F(DecideTest, AShadowDenialIsListedAndCountedAndRefusesNobody) {
  Load(RuleText("live") + RuleText("dark", ", mode: shadow"));
  Answer("dark", DeniedFor(seconds(9)));
  TestCheck call;
  service.Submit(call.operation);
  EXPECT_TRUE(call.verdict.allowed);
  EXPECT_EQ(call.verdict.governing, 0);
  EXPECT_TRUE(call.verdict.decisions[1].decision.shadow);
  EXPECT_FALSE(call.verdict.decisions[1].decision.allowed);
  EXPECT_EQ(metrics.Count("dark", Outcome::kShadowDenied), 1U);
}

TEST_F(DecideTest, AMissingAttributeDeniesForGoodAndChargesNobody) {
  Load(RuleText("other") + StrictText("strict"));
  TestCheck call;
  service.Submit(call.operation);
  EXPECT_FALSE(call.verdict.allowed);
  EXPECT_TRUE(store.peeked);
  ASSERT_EQ(call.verdict.governing, 1);
  const Decision& missing = call.verdict.governing_decision()->decision;
  EXPECT_EQ(missing.reason, Reason::kAttributeMissing);
  EXPECT_EQ(missing.retry_after, Decision::kNever);
  EXPECT_EQ(missing.limit, 5);
  EXPECT_EQ(missing.remaining, 0);
  EXPECT_TRUE(call.verdict.decisions[0].decision.allowed);
  EXPECT_EQ(metrics.Count("strict", Outcome::kDenied), 1U);
}

TEST_F(DecideTest, AMissingAttributeOfAShadowRuleDoesNotTouchTheOthers) {
  Load(RuleText("other") + StrictText("dark", ", mode: shadow"));
  TestCheck call;
  service.Submit(call.operation);
  EXPECT_TRUE(call.verdict.allowed);
  EXPECT_FALSE(store.peeked);
  EXPECT_EQ(metrics.Count("dark", Outcome::kShadowDenied), 1U);
}

TEST_F(DecideTest, AsksTheStoreNothingWhereThereIsNoKeyToAskAbout) {
  Load(StrictText("strict"));
  TestCheck call;
  service.Submit(call.operation);
  EXPECT_EQ(call.answered, 1);
  EXPECT_FALSE(call.verdict.allowed);
  EXPECT_EQ(store.batches, 0U);
}

TEST_F(DecideTest, AReplacedRuleIsNotAsked) {
  Load(RuleText("wide") + RuleText("narrow", ", replaces: [wide]"));
  TestCheck call;
  service.Submit(call.operation);
  EXPECT_THAT(store.asked, ElementsAre("narrow"));
}

TEST_F(DecideTest, ModesSetByHandWinOverTheFileAndOutliveAReload) {
  Load(RuleText("a") + RuleText("b"));
  service.SetModes(
      {.all = std::nullopt, .by_rule = {{"a", rules::Mode::kOff}, {"b", rules::Mode::kShadow}}});
  TestCheck call;
  service.Submit(call.operation);
  EXPECT_THAT(store.asked, ElementsAre("b"));
  EXPECT_TRUE(call.verdict.decisions[0].decision.shadow);
  Load(RuleText("a") + RuleText("b"));
  service.Submit(call.operation);
  EXPECT_THAT(store.asked, ElementsAre("b", "b"));
  service.SetModes({});
  service.Submit(call.operation);
  EXPECT_THAT(store.asked, ElementsAre("b", "b", "a", "b"));
}

TEST_F(DecideTest, APeekIsAskedAsOneAndCountsNoDecision) {
  Load(RuleText("r"));
  TestCheck call;
  call.check.peek = true;
  service.Submit(call.operation);
  EXPECT_TRUE(store.peeked);
  EXPECT_EQ(metrics.Count("r", Outcome::kAllowed), 0U);
  EXPECT_EQ(metrics.Count(RequestResult::kPeeked), 1U);
}

TEST_F(DecideTest, AWrongRequestDecidesNothingAndLeavesTheCallUsable) {
  Load(RuleText("r", ", cost: tokens"));
  TestCheck call;
  service.Submit(call.operation);
  EXPECT_NE(call.verdict.request_error, "");
  EXPECT_FALSE(call.verdict.allowed);
  EXPECT_TRUE(call.verdict.decisions.empty());
  EXPECT_EQ(store.batches, 0U);
  EXPECT_EQ(metrics.Count(RequestResult::kError), 1U);
  Load(RuleText("r"));
  service.Submit(call.operation);
  EXPECT_EQ(call.answered, 2);
  EXPECT_EQ(call.verdict.request_error, "");
  EXPECT_TRUE(call.verdict.allowed);
}

TEST_F(DecideTest, AStatusNeedsNoCostAttribute) {
  Load(RuleText("r", ", cost: tokens"));
  TestCheck call;
  call.check.peek = true;
  call.check.absent_cost = rules::AbsentCost::kIsTheCalls;
  service.Submit(call.operation);
  EXPECT_EQ(call.verdict.request_error, "");
  EXPECT_TRUE(call.verdict.allowed);
}

TEST_F(DecideTest, AsksForABatchAtOnceAndCutsWhatIsTooLongForTheStack) {
  Load(RuleText("r"));
  for (const std::size_t size : {40U, 1'000U}) {
    std::deque<TestCheck> calls(size);
    std::vector<Operation*> batch;
    for (TestCheck& call : calls) {
      batch.push_back(&call.operation);
    }
    store.batches = 0;
    service.Submit(batch);
    EXPECT_EQ(store.batches, size == 40 ? 1U : 4U);
    for (const TestCheck& call : calls) {
      EXPECT_EQ(call.answered, 1);
    }
  }
}

TEST_F(DecideTest, AnswersThatComeLateAndOutOfOrderReachTheirOwnCalls) {
  Load(RuleText("r"));
  store.late = true;
  TestCheck first;
  TestCheck second;
  service.Submit(first.operation);
  service.Submit(second.operation);
  EXPECT_EQ(first.answered + second.answered, 0);
  store.AnswerLast();
  EXPECT_EQ(second.answered, 1);
  EXPECT_EQ(first.answered, 0);
  store.AnswerLast();
  EXPECT_EQ(first.answered, 1);
  EXPECT_TRUE(first.verdict.allowed);
}

// Sends itself again from within its own verdict.
class AgainCall final : public TestCheck {
 public:
  explicit AgainCall(LimiterService& service) : service_(service) {}
  void OnCompleted(Operation& of) noexcept override {
    TestCheck::OnCompleted(of);
    if (answered < 3) {
      service_.Submit(of);
    }
  }

 private:
  LimiterService& service_;
};

TEST_F(DecideTest, ACallMayBeSentAgainFromItsVerdict) {
  Load(RuleText("r"));
  AgainCall call(service);
  service.Submit(call.operation);
  EXPECT_EQ(call.answered, 3);
  EXPECT_EQ(metrics.Count("r", Outcome::kAllowed), 3U);
}

// Destroys itself in its verdict, as a vanished client's call does.
class LastCall final : public TestCheck {
 public:
  explicit LastCall(bool& gone) : gone_(gone) {}
  ~LastCall() override { gone_ = true; }
  void OnCompleted(Operation& /*operation*/) noexcept override { delete this; }

 private:
  bool& gone_;
};

TEST_F(DecideTest, ACallMayDestroyItselfInItsVerdict) {
  Load(RuleText("r"));
  bool gone = false;
  service.Submit((new LastCall(gone))->operation);
  EXPECT_TRUE(gone);
  store.late = true;
  gone = false;
  service.Submit((new LastCall(gone))->operation);
  store.AnswerLast();
  EXPECT_TRUE(gone);
}

}  // namespace
}  // namespace sluice::service
