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
  TestCall call(Attribute{.name = "other", .value = "x"});
  service.Decide(call);  // Before any rules.
  EXPECT_TRUE(call.verdict.allowed);
  Load(RuleText("r"));
  service.Decide(call);
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
  TestCall call;
  service.Decide(call);
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
  TestCall call;
  service.Decide(call);
  EXPECT_EQ(call.verdict.wait, seconds(3));
  Answer("b", DeniedFor(seconds(1)));
  service.Decide(call);
  EXPECT_EQ(call.verdict.wait, Duration{});
}

TEST_F(DecideTest, AShadowDenialIsListedAndCountedAndRefusesNobody) {
  Load(RuleText("live") + RuleText("dark", ", mode: shadow"));
  Answer("dark", DeniedFor(seconds(9)));
  TestCall call;
  service.Decide(call);
  EXPECT_TRUE(call.verdict.allowed);
  EXPECT_EQ(call.verdict.governing, 0);
  EXPECT_TRUE(call.verdict.decisions[1].decision.shadow);
  EXPECT_FALSE(call.verdict.decisions[1].decision.allowed);
  EXPECT_EQ(metrics.Count("dark", Outcome::kShadowDenied), 1U);
}

TEST_F(DecideTest, AMissingAttributeDeniesForGoodAndChargesNobody) {
  Load(RuleText("other") + StrictText("strict"));
  TestCall call;
  service.Decide(call);
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
  TestCall call;
  service.Decide(call);
  EXPECT_TRUE(call.verdict.allowed);
  EXPECT_FALSE(store.peeked);
  EXPECT_EQ(metrics.Count("dark", Outcome::kShadowDenied), 1U);
}

TEST_F(DecideTest, AsksTheStoreNothingWhereThereIsNoKeyToAskAbout) {
  Load(StrictText("strict"));
  TestCall call;
  service.Decide(call);
  EXPECT_EQ(call.answered, 1);
  EXPECT_FALSE(call.verdict.allowed);
  EXPECT_EQ(store.batches, 0U);
}

TEST_F(DecideTest, AReplacedRuleIsNotAsked) {
  Load(RuleText("wide") + RuleText("narrow", ", replaces: [wide]"));
  TestCall call;
  service.Decide(call);
  EXPECT_THAT(store.asked, ElementsAre("narrow"));
}

TEST_F(DecideTest, ModesSetByHandWinOverTheFileAndOutliveAReload) {
  Load(RuleText("a") + RuleText("b"));
  service.SetModes(
      {.all = std::nullopt, .by_rule = {{"a", rules::Mode::kOff}, {"b", rules::Mode::kShadow}}});
  TestCall call;
  service.Decide(call);
  EXPECT_THAT(store.asked, ElementsAre("b"));
  EXPECT_TRUE(call.verdict.decisions[0].decision.shadow);
  Load(RuleText("a") + RuleText("b"));
  service.Decide(call);
  EXPECT_THAT(store.asked, ElementsAre("b", "b"));
  service.SetModes({});
  service.Decide(call);
  EXPECT_THAT(store.asked, ElementsAre("b", "b", "a", "b"));
}

TEST_F(DecideTest, APeekIsAskedAsOneAndCountsNoDecision) {
  Load(RuleText("r"));
  TestCall call;
  call.peek = true;
  service.Decide(call);
  EXPECT_TRUE(store.peeked);
  EXPECT_EQ(metrics.Count("r", Outcome::kAllowed), 0U);
  EXPECT_EQ(metrics.Count(RequestResult::kPeeked), 1U);
}

TEST_F(DecideTest, AWrongRequestDecidesNothingAndLeavesTheCallUsable) {
  Load(RuleText("r", ", cost: tokens"));
  TestCall call;
  service.Decide(call);
  EXPECT_NE(call.verdict.request_error, "");
  EXPECT_FALSE(call.verdict.allowed);
  EXPECT_TRUE(call.verdict.decisions.empty());
  EXPECT_EQ(store.batches, 0U);
  EXPECT_EQ(metrics.Count(RequestResult::kError), 1U);
  Load(RuleText("r"));
  service.Decide(call);
  EXPECT_EQ(call.answered, 2);
  EXPECT_EQ(call.verdict.request_error, "");
  EXPECT_TRUE(call.verdict.allowed);
}

TEST_F(DecideTest, AStatusNeedsNoCostAttribute) {
  Load(RuleText("r", ", cost: tokens"));
  TestCall call;
  call.peek = true;
  call.absent_cost = rules::AbsentCost::kIsTheCalls;
  service.Decide(call);
  EXPECT_EQ(call.verdict.request_error, "");
  EXPECT_TRUE(call.verdict.allowed);
}

TEST_F(DecideTest, AsksForABatchAtOnceAndCutsWhatIsTooLongForTheStack) {
  Load(RuleText("r"));
  for (const std::size_t size : {40U, 1'000U}) {
    std::deque<TestCall> calls(size);
    std::vector<DecideCall*> batch;
    for (TestCall& call : calls) {
      batch.push_back(&call);
    }
    store.batches = 0;
    service.Decide(batch);
    EXPECT_EQ(store.batches, size == 40 ? 1U : 4U);
    for (const TestCall& call : calls) {
      EXPECT_EQ(call.answered, 1);
    }
  }
}

TEST_F(DecideTest, AnswersThatComeLateAndOutOfOrderReachTheirOwnCalls) {
  Load(RuleText("r"));
  store.late = true;
  TestCall first;
  TestCall second;
  service.Decide(first);
  service.Decide(second);
  EXPECT_EQ(first.answered + second.answered, 0);
  store.AnswerLast();
  EXPECT_EQ(second.answered, 1);
  EXPECT_EQ(first.answered, 0);
  store.AnswerLast();
  EXPECT_EQ(first.answered, 1);
  EXPECT_TRUE(first.verdict.allowed);
}

// Sends itself again from within its own verdict.
class AgainCall final : public TestCall {
 public:
  explicit AgainCall(LimiterService& service) : service_(service) {}
  void OnVerdict() noexcept override {
    TestCall::OnVerdict();
    if (answered < 3) {
      service_.Decide(*this);
    }
  }

 private:
  LimiterService& service_;
};

TEST_F(DecideTest, ACallMayBeSentAgainFromItsVerdict) {
  Load(RuleText("r"));
  AgainCall call(service);
  service.Decide(call);
  EXPECT_EQ(call.answered, 3);
  EXPECT_EQ(metrics.Count("r", Outcome::kAllowed), 3U);
}

// Destroys itself in its verdict, as a vanished client's call does.
class LastCall final : public TestCall {
 public:
  explicit LastCall(bool& gone) : gone_(gone) {}
  ~LastCall() override { gone_ = true; }
  void OnVerdict() noexcept override { delete this; }

 private:
  bool& gone_;
};

TEST_F(DecideTest, ACallMayDestroyItselfInItsVerdict) {
  Load(RuleText("r"));
  bool gone = false;
  service.Decide(*new LastCall(gone));
  EXPECT_TRUE(gone);
  store.late = true;
  gone = false;
  service.Decide(*new LastCall(gone));
  store.AnswerLast();
  EXPECT_TRUE(gone);
}

}  // namespace
}  // namespace sluice::service
