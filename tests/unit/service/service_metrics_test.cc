#include "service/service_metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/service/service_fixture.h"

namespace sluice::service {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class ServiceMetricsTest : public ServiceTest {
 protected:
  [[nodiscard]] std::string Text() const {
    telemetry::Registry registry;
    registry.Add(metrics);
    return registry.Text();
  }
};

TEST_F(ServiceMetricsTest, ShowsDecisionsByRuleAndOutcome) {
  Load(RuleText("api"));
  TestCheck call;
  service.Submit(call.operation);
  metrics.CountReload(true);
  metrics.CountReload(false);
  const std::string text = Text();
  EXPECT_THAT(text, HasSubstr("sluice_decisions_total{rule=\"api\",outcome=\"allowed\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("sluice_decisions_total{rule=\"api\",outcome=\"denied\"} 0\n"));
  EXPECT_THAT(text, HasSubstr("sluice_requests_total{result=\"allowed\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("sluice_rule_reloads_total{result=\"failed\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("sluice_decide_duration_seconds_count 1\n"));
  EXPECT_THAT(text, HasSubstr("sluice_rules 1\n"));
}

TEST_F(ServiceMetricsTest, TimesLateAnswersToo) {
  Load(RuleText("api"));
  store.late = true;
  TestCheck call;
  service.Submit(call.operation);
  EXPECT_THAT(Text(), HasSubstr("sluice_decide_duration_seconds_count 0\n"));
  store.AnswerLast();
  EXPECT_THAT(Text(), HasSubstr("sluice_decide_duration_seconds_count 1\n"));
}

TEST_F(ServiceMetricsTest, ForgetsRulesThatAreGoneInTheOrderOfTheirComing) {
  for (std::size_t i = 0; i < ServiceMetrics::kRemembered + 3; ++i) {
    Load(RuleText("r" + std::to_string(i)));
  }
  const std::string text = Text();
  EXPECT_THAT(text, Not(HasSubstr("rule=\"r1\",")));
  EXPECT_THAT(text, HasSubstr("rule=\"r2\","));
}

}  // namespace
}  // namespace sluice::service
