#include "frontend/http/why_report.h"

#include <chrono>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sluice::frontend::http {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;

WallInstant At(int ms) {
  return WallInstant(std::chrono::hours(500'000) + milliseconds(ms));
}

TEST(WhyReportTest, TheStoresClockIsComparedWithTheMiddleOfTheQuestion) {
  const ClockOffset ahead = OffsetOf(At(100), At(104), At(1102));
  EXPECT_EQ(ahead.ahead, milliseconds(1000));
  EXPECT_EQ(ahead.error, milliseconds(2));
  EXPECT_EQ(OffsetOf(At(100), At(104), At(52)).ahead, milliseconds(-50));
}

TEST(WhyReportTest, WithoutRulesItSaysWhatIsKnown) {
  WhyReport report;
  report.now = At(0);
  report.is_shared = true;
  std::string body;
  AppendWhy(report, body);
  EXPECT_EQ(body,
            R"({"scope":"node","now_ms":1800000000000,"verdict":{"allowed":true,"status":200,)"
            R"("kill_switch":false,"rule_id":null},"store":{"shared":true,"answered":null,)"
            R"("clock_offset_us":null,"clock_error_us":null},"rules":[]})");
}

// What never passes has no time; a wait may end later than a clock can say.
TEST(WhyReportTest, TimesThatCannotBeGivenAreNull) {
  rules::Findings findings;
  const rules::SourceText text{
      "r.yaml", "rules: [{id: r, key_pattern: \"{u}\", algorithm: gcra, rate: 1, window: 1s}]",
      false};
  WhyReport report;
  report.set = rules::RuleSet::Build({&text, 1}, nullptr, findings);
  ASSERT_NE(report.set, nullptr);
  const Attribute attribute{.name = "u", .value = "1"};
  auto explained = report.set->Explain({&attribute, 1}, {}, {});
  report.rules.push_back({.explained = explained[0], .decision = Decision{}});
  report.allowed = false;
  report.governing = "r";
  report.now = At(0);
  Decision& decision = *report.rules[0].decision;
  decision.limit = 1;
  decision.reason = Reason::kQuotaExceeded;
  decision.reset_after = Decision::kUnknown - Duration(1);
  for (const Duration wait : {Decision::kNever, Decision::kUnknown}) {
    decision.retry_after = wait;
    std::string body;
    AppendWhy(report, body);
    EXPECT_THAT(body, HasSubstr(R"("retry_after_ms":null,"passes_at_ms":null)"));
    EXPECT_THAT(body, HasSubstr("\"reset_at_ms\":11023372036855"));
  }
}

}  // namespace
}  // namespace sluice::frontend::http
