#include "service/verdict.h"

#include <vector>

#include <gtest/gtest.h>

namespace sluice::service {
namespace {

using std::chrono::seconds;

RuleDecision Allowed(Units limit, Units remaining) {
  return {.decision = {.allowed = true, .limit = limit, .remaining = remaining}};
}

RuleDecision Denied(Duration retry_after) {
  return {.decision = {.reason = Reason::kQuotaExceeded, .limit = 9, .retry_after = retry_after}};
}

RuleDecision Shadow(RuleDecision made) {
  made.decision.shadow = true;
  return made;
}

int Governs(const std::vector<RuleDecision>& decisions) {
  return Governing(decisions, EnforcedAllow(decisions));
}

TEST(VerdictTest, NoRuleGovernsNothing) {
  EXPECT_EQ(Governs({}), -1);
}

TEST(VerdictTest, TheLeastRemainingGovernsWhatIsAllowed) {
  EXPECT_EQ(Governs({Allowed(9, 5), Allowed(100, 3), Allowed(9, 4)}), 1);
}

TEST(VerdictTest, TheFirstDeclaredGovernsAmongEquals) {
  EXPECT_EQ(Governs({Allowed(9, 5), Allowed(7, 5)}), 0);
  EXPECT_EQ(Governs({Denied(seconds(3)), Denied(seconds(3))}), 0);
}

TEST(VerdictTest, TheLongestWaitGovernsADenial) {
  EXPECT_EQ(Governs({Allowed(9, 0), Denied(seconds(3)), Denied(seconds(9))}), 2);
}

TEST(VerdictTest, NeverIsLongerThanUnknownAndUnknownThanAnyNumber) {
  EXPECT_EQ(Governs({Denied(seconds(3)), Denied(Decision::kUnknown)}), 1);
  EXPECT_EQ(Governs({Denied(Decision::kUnknown), Denied(Decision::kNever)}), 1);
}

TEST(VerdictTest, AnUnlimitedRuleGovernsOnlyWhereNoLimitedOneIs) {
  EXPECT_EQ(Governs({Allowed(kUnlimited, kUnlimited), Allowed(9, 9)}), 1);
  EXPECT_EQ(Governs({Allowed(9, 9), Allowed(kUnlimited, kUnlimited)}), 0);
  EXPECT_EQ(Governs({Allowed(kUnlimited, kUnlimited), Allowed(kUnlimited, kUnlimited)}), 0);
}

TEST(VerdictTest, ADecisionMadeWithoutTheStoreHasNoNumberToGovernBy) {
  RuleDecision degraded = Allowed(2, 2);
  degraded.decision.degraded = true;
  EXPECT_EQ(Governs({degraded, Allowed(9, 5)}), 1);
  EXPECT_EQ(Governs({Allowed(9, 5), degraded}), 0);
}

TEST(VerdictTest, AShadowRuleNeitherDeniesNorGoverns) {
  const std::vector<RuleDecision> decisions{Shadow(Denied(Decision::kNever)), Allowed(9, 5),
                                            Shadow(Allowed(9, 0))};
  EXPECT_TRUE(EnforcedAllow(decisions));
  EXPECT_EQ(Governs(decisions), 1);
  EXPECT_EQ(Governs({Shadow(Denied(seconds(1)))}), -1);
}

TEST(VerdictTest, TheLongestWaitOfTheEnforcedRulesCounts) {
  RuleDecision slow = Allowed(9, 5);
  slow.decision.wait = seconds(2);
  RuleDecision slower = Allowed(9, 5);
  slower.decision.wait = seconds(5);
  EXPECT_EQ(LongestWait(std::vector{slow, Allowed(9, 5), Shadow(slower)}), seconds(2));
}

}  // namespace
}  // namespace sluice::service
