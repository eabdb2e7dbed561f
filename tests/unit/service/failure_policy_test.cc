#include <gtest/gtest.h>

#include "service/fallback.h"
#include "unit/service/service_fixture.h"

namespace sluice::service {
namespace {

class FailurePolicyTest : public ServiceTest {
 protected:
  const Decision& DecideUnder(const std::string& policy) {
    Load(RuleText("r", ", on_store_error: " + policy));
    store.call_error = store::StoreError::kUnavailable;
    service.Submit(call.operation);
    EXPECT_EQ(call.answered, 1);
    return call.verdict.decisions.at(0).decision;
  }
  TestCheck call;
};

TEST_F(FailurePolicyTest, AllowLetsPassAndSaysThatItIsDegraded) {
  EXPECT_TRUE(DecideUnder("allow").degraded);
  EXPECT_TRUE(call.verdict.allowed);
  EXPECT_FALSE(call.verdict.decisions[0].charged);
  EXPECT_EQ(metrics.Count("r", Outcome::kDegradedAllowed), 1U);
  EXPECT_EQ(metrics.Count("r", Outcome::kAllowed), 0U);
}

TEST_F(FailurePolicyTest, DenyAnswersAsUnavailableForAnUnknownTime) {
  const Decision& decision = DecideUnder("deny");
  EXPECT_FALSE(call.verdict.allowed);
  EXPECT_TRUE(decision.degraded);
  EXPECT_EQ(decision.reason, Reason::kStoreUnavailable);
  EXPECT_EQ(decision.retry_after, Decision::kUnknown);
  EXPECT_EQ(metrics.Count("r", Outcome::kDegradedDenied), 1U);
}

TEST_F(FailurePolicyTest, LocalAllowsWhereThereIsNoOtherStoreAndCountsApart) {
  EXPECT_TRUE(DecideUnder("local").degraded);
  EXPECT_TRUE(call.verdict.allowed);
  EXPECT_EQ(metrics.Count("r", Outcome::kDegradedLocal), 1U);
}

TEST_F(FailurePolicyTest, JudgesEachCheckByItsOwnError) {
  Load(RuleText("up") + RuleText("down", ", on_store_error: deny"));
  store.script = [](const store::Check& check) {
    return check.key.rule == "down"
               ? store::CheckAnswer{.error = store::StoreError::kUnavailable}
               : store::CheckAnswer{.decision = {.allowed = true, .limit = 10, .remaining = 4}};
  };
  service.Submit(call.operation);
  EXPECT_FALSE(call.verdict.allowed);
  EXPECT_FALSE(call.verdict.decisions[0].decision.degraded);
  EXPECT_EQ(call.verdict.governing, 1);
}

TEST_F(FailurePolicyTest, AFailedShadowRuleRefusesNobody) {
  Load(RuleText("r", ", on_store_error: deny, mode: shadow"));
  store.call_error = store::StoreError::kUnavailable;
  service.Submit(call.operation);
  EXPECT_TRUE(call.verdict.allowed);
}

}  // namespace
}  // namespace sluice::service
