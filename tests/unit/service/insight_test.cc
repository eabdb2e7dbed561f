#include "insight/insight.h"

#include <cstdint>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/manual_clock.h"
#include "unit/service/service_fixture.h"

namespace sluice::service {
namespace {

using ::testing::ElementsAre;

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
  // Allowed, denied, banned, shadow, all.
  std::vector<std::uint64_t> TotalsOf(std::string_view rule) {
    for (const insight::RuleTop& top : insight.Top({.rule = rule}).rules) {
      return {top.totals.begin(), top.totals.end()};
    }
    return {};
  }

  support::ManualClock clock;
  support::ScriptedStore store;
  ServiceMetrics metrics;
  insight::Insight insight{clock};
  LimiterService service{store, metrics, nullptr, &insight};
};

TEST_F(RecordedTest, EachDecidedRequestOnceAndNoPeekAndNoError) {
  service.SetRules(RulesOf("rules:\n" + RuleText("a") + RuleText("b")));
  TestCheck call;
  service.Submit(call.operation);
  EXPECT_THAT(TotalsOf("a"), ElementsAre(1, 0, 0, 0, 1));
  EXPECT_THAT(TotalsOf("b"), ElementsAre(1, 0, 0, 0, 1));

  store.script = [](const store::Check& /*check*/) {
    return store::CheckAnswer{.decision = {.reason = Reason::kQuotaExceeded, .limit = 10}};
  };
  service.Submit(call.operation);
  EXPECT_THAT(TotalsOf("a"), ElementsAre(1, 1, 0, 0, 2));

  call.check.peek = true;
  service.Submit(call.operation);
  call.check.peek = false;
  call.check.only_rule = "none";
  service.Submit(call.operation);
  EXPECT_THAT(TotalsOf("a"), ElementsAre(1, 1, 0, 0, 2));
  EXPECT_THAT(TotalsOf("b"), ElementsAre(1, 1, 0, 0, 2));
}

TEST_F(RecordedTest, WhatAShadowRuleWouldDenyAndWhetherOthersDidToo) {
  service.SetRules(RulesOf("rules:\n" + RuleText("dark", ", mode: shadow") + StrictText("live")));
  store.script = [](const store::Check& /*check*/) {
    return store::CheckAnswer{.decision = {.reason = Reason::kQuotaExceeded, .limit = 10}};
  };
  TestCheck call;
  service.Submit(call.operation);  // live has no ip: denied.
  const auto newly_denied = [this] {
    return insight.Top({.rule = "dark"}).rules.at(0).keys.at(0).counted.newly_denied;
  };
  EXPECT_EQ(newly_denied(), 0U);
  service.SetRules(RulesOf("rules:\n" + RuleText("dark", ", mode: shadow")));
  service.Submit(call.operation);
  EXPECT_EQ(newly_denied(), 1U);
  EXPECT_THAT(TotalsOf("dark"), ElementsAre(0, 0, 0, 2, 2));
  EXPECT_THAT(TotalsOf("live"), ElementsAre(0, 1, 0, 0, 1));
}

constexpr std::string_view kSampled = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

TEST_F(RecordedTest, ASpanForARequestOfASampledTraceAndNoOther) {
  telemetry::SpanQueue queue;
  insight.SetSpans(&queue);
  service.SetRules(RulesOf("rules:\n" + RuleText("a") + RuleText("b")));
  store.script = [](const store::Check& check) {
    const bool allowed = check.key.rule == "a";
    return store::CheckAnswer{
        .decision = {.allowed = allowed,
                     .reason = allowed ? Reason::kNone : Reason::kQuotaExceeded,
                     .limit = 10,
                     .retry_after = allowed ? Duration() : std::chrono::seconds(2)}};
  };
  TestCheck call;
  service.Submit(call.operation);
  call.operation.trace.Take(kSampled);
  call.operation.request_id.Take("r1");
  service.Submit(call.operation);
  std::vector<telemetry::Span> spans;
  queue.Take(9, spans);
  ASSERT_EQ(spans.size(), 1U);
  EXPECT_EQ(spans[0].trace_id, call.operation.trace.trace_id());
  EXPECT_EQ(spans[0].parent_id, call.operation.trace.parent_id());
  EXPECT_EQ(spans[0].rule.view(), "b");
  EXPECT_EQ(spans[0].outcome, "denied");
  EXPECT_EQ(spans[0].reason, "quota_exceeded");
  EXPECT_EQ(spans[0].request_id.view(), "r1");
  EXPECT_FALSE(spans[0].allowed);
  EXPECT_EQ(spans[0].wait, std::chrono::seconds(2));
  EXPECT_GE(spans[0].duration, spans[0].store);
}

TEST_F(RecordedTest, ASpanAlsoWhereNoRuleApplies) {
  telemetry::SpanQueue queue;
  insight.SetSpans(&queue);
  service.SetRules(RulesOf("rules: []\n"));
  TestCheck call;
  call.operation.trace.Take(kSampled);
  service.Submit(call.operation);
  std::vector<telemetry::Span> spans;
  queue.Take(9, spans);
  ASSERT_EQ(spans.size(), 1U);
  EXPECT_EQ(spans[0].rule.view(), "");
  EXPECT_EQ(spans[0].outcome, "no_rule");
  EXPECT_TRUE(spans[0].allowed);
}

TEST_F(RecordedTest, ChecksByTheirOwnNumbers) {
  TestOperation call;
  call.operation.Ask<ThrottleCheck>().Set("k", OneAMinute(), Cost{});
  service.Submit(call.operation);
  EXPECT_EQ(TotalsOf(kThrottleRule).size(), 5U);
}

}  // namespace
}  // namespace sluice::service
