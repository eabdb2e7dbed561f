#include "insight_schedule.h"

#include <algorithm>
#include <memory>
#include <sstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/spdlog.h>

#include "support/manual_clock.h"
#include "unit/service/service_fixture.h"

namespace sluice::app {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class InsightScheduleTest : public ::testing::Test {
 protected:
  InsightScheduleTest()
      : logger_(std::make_shared<spdlog::logger>(
            "test", std::make_shared<spdlog::sinks::ostream_sink_mt>(log_))),
        before_(spdlog::default_logger()) {
    spdlog::set_default_logger(logger_);
  }
  ~InsightScheduleTest() override { spdlog::set_default_logger(before_); }

  void Check(const std::string& user, int times) {
    service::TestCheck call({.name = "user_id", .value = user});
    for (int i = 0; i < times; ++i) {
      service_.Submit(call.operation);
    }
  }
  void PassHalf(InsightSchedule& schedule) {
    clock_.Advance(insight::TopKeys::kHalf);
    schedule.Tick();
  }
  static std::string Metrics(const InsightSchedule& schedule) {
    std::string text;
    telemetry::PrometheusText out(text);
    schedule.Write(out);
    return text;
  }

  std::ostringstream log_;
  std::shared_ptr<spdlog::logger> logger_;
  std::shared_ptr<spdlog::logger> before_;
  net::EventLoop loop_;
  support::ManualClock clock_;
  support::ScriptedStore store_;
  service::ServiceMetrics metrics_;
  insight::Insight insight_{clock_};
  service::LimiterService service_{store_, metrics_, nullptr, &insight_};
};

TEST_F(InsightScheduleTest, ReportsAKeyWithALargeShareOnce) {
  service_.SetRules(service::RulesOf("rules:\n" + service::RuleText("a") +
                                     service::RuleText("b", ", match: {user_id: x}")));
  InsightSchedule schedule(loop_, insight_, service_, {.share = 0.5, .requests = 10});
  Check("u_1", 9);
  PassHalf(schedule);
  EXPECT_EQ(log_.str(), "");  // Too few.
  Check("u_1", 9);
  Check("u_2", 3);
  PassHalf(schedule);
  EXPECT_THAT(log_.str(),
              HasSubstr("user_id=u_1 made 75 % of the 12 requests that rule a decided in 30 s"));
  EXPECT_THAT(log_.str(), Not(HasSubstr("u_2")));
  EXPECT_THAT(Metrics(schedule), HasSubstr("sluice_top_key_share{rule=\"a\"} 0.75\n"));
  EXPECT_THAT(Metrics(schedule), HasSubstr("sluice_top_key_share{rule=\"b\"} 0\n"));
  log_.str("");
  Check("u_1", 12);
  PassHalf(schedule);
  EXPECT_EQ(log_.str(), "");  // It is no news.
}

TEST_F(InsightScheduleTest, ManyKeysWriteFewLinesAndOffWritesNone) {
  std::string rules = "rules:\n";
  for (int i = 0; i < 40; ++i) {
    rules += service::RuleText("r" + std::to_string(i));
  }
  service_.SetRules(service::RulesOf(rules));
  InsightSchedule silent(loop_, insight_, service_, {.share = 0, .requests = 1});
  Check("u_1", 2);
  PassHalf(silent);
  EXPECT_EQ(log_.str(), "");
  EXPECT_THAT(Metrics(silent), HasSubstr("{rule=\"r0\"} 1\n"));
  InsightSchedule schedule(loop_, insight_, service_, {.share = 0.1, .requests = 1});
  Check("u_1", 2);
  PassHalf(schedule);
  const std::string lines = log_.str();
  EXPECT_EQ(std::ranges::count(lines, '\n'), 21);
  EXPECT_THAT(lines, HasSubstr("hot keys: 20 more"));
}

TEST_F(InsightScheduleTest, ForgetsRulesThatAreGone) {
  service_.SetRules(service::RulesOf("rules:\n" + service::RuleText("a") + service::RuleText("b")));
  InsightSchedule schedule(loop_, insight_, service_, {});
  Check("u_1", 1);
  EXPECT_EQ(insight_.Top({}).rules.size(), 2U);
  service_.SetRules(service::RulesOf("rules:\n" + service::RuleText("b")));
  PassHalf(schedule);
  ASSERT_EQ(insight_.Top({}).rules.size(), 1U);
  EXPECT_EQ(insight_.Top({}).rules[0].rule, "b");
}

}  // namespace
}  // namespace sluice::app
