#include "insight/insight.h"

#include <gtest/gtest.h>

#include "unit/service/service_fixture.h"

namespace sluice::service {
namespace {

core::Quota OneAMinute() {
  core::Quota quota;
  quota.algorithm = core::Algorithm::kThrottle;
  quota.limit = 1;
  quota.rate = 1;
  quota.window = std::chrono::minutes(1);
  return quota;
}

// What of the service's work operators see.
class RecordedTest : public ::testing::Test {
 protected:
  support::ScriptedStore store;
  ServiceMetrics metrics;
  insight::Insight insight;
  LimiterService service{store, metrics, nullptr, &insight};
};

TEST_F(RecordedTest, EachDecidedRequestOnceAndNoPeekAndNoError) {
  service.SetRules(RulesOf("rules:\n" + RuleText("a") + RuleText("b")));
  TestCheck call;
  service.Submit(call.operation);
  EXPECT_EQ(insight.allowed(), 1U);

  store.script = [](const store::Check& /*check*/) {
    return store::CheckAnswer{.decision = {.reason = Reason::kQuotaExceeded, .limit = 10}};
  };
  service.Submit(call.operation);
  EXPECT_EQ(insight.denied(), 1U);

  call.check.peek = true;
  service.Submit(call.operation);
  call.check.peek = false;
  call.check.only_rule = "none";
  service.Submit(call.operation);
  EXPECT_EQ(insight.allowed(), 1U);
  EXPECT_EQ(insight.denied(), 1U);
}

TEST_F(RecordedTest, ChecksByTheirOwnNumbers) {
  TestOperation call;
  call.operation.Ask<ThrottleCheck>().Set("k", OneAMinute(), Cost{});
  service.Submit(call.operation);
  EXPECT_EQ(insight.allowed() + insight.denied(), 1U);
}

}  // namespace
}  // namespace sluice::service
