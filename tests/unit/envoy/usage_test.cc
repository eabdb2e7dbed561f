#include <chrono>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "envoy/usage_call.h"
#include "unit/envoy/call_fixture.h"

namespace sluice::envoy {
namespace {

using namespace std::chrono_literals;  // NOLINT(google-build-using-namespace)
using wire::RlsCode;

constexpr const char* kUsageTree = R"(
domain: d
descriptors:
  - key: minute
    rate_limit: {unit: minute, requests_per_unit: 10}
  - key: free
    rate_limit: {unlimited: true}
  - key: list
    rate_limits:
      - {unit: minute, requests_per_unit: 3}
      - {unit: hour, requests_per_unit: 30, algorithm: gcra}
  - key: path
    value: "/api/*"
    share_threshold: true
    rate_limit: {unit: minute, requests_per_unit: 2}
)";

class UsageTest : public CallFixture {
 protected:
  struct Usage final : private service::CompletionOf<UsageCall>, UsageCall {
    Usage() : UsageCall(static_cast<service::CompletionOf<UsageCall>&>(*this)) {}
    void OnCompleted(UsageCall& /*call*/) noexcept override { ++done; }
    int done = 0;
    std::string bytes;
    wire::RlsRequest own;
  };

  void Look(Usage& usage, const std::vector<RlsDescriptorText>& descriptors,
            const std::string& domain = "d") {
    usage.bytes = support::RlsRequestMessage(domain, descriptors, 0);
    EXPECT_TRUE(usage.own.Read(usage.bytes));
    usage.request = &usage.own;
    usage.Start(*service_);
    EXPECT_EQ(usage.done, 1);
  }
  void Reset(const std::vector<RlsDescriptorText>& descriptors) {
    Usage usage;
    usage.reset = true;
    Look(usage, descriptors);
    EXPECT_EQ(usage.failure, UsageCall::Failure::kNone) << usage.failure_text;
  }
};

TEST_F(UsageTest, TellsWhatIsLeftAndCountsNothing) {
  Configure(kUsageTree);
  (void)AskOne("minute", "x", 4);
  (void)AskOne("list", "y", 5);
  for (int i = 0; i < 2; ++i) {
    Usage usage;
    Look(usage, {{.entries = {{"minute", "x"}}}, {.entries = {{"list", "y"}}}});
    ASSERT_EQ(usage.uses.size(), 3U);
    EXPECT_EQ(usage.uses[0].limit->path, "d.minute");
    EXPECT_EQ(usage.uses[0].decision.remaining, 6);
    EXPECT_TRUE(usage.uses[0].decision.allowed);
    EXPECT_EQ(usage.uses[1].descriptor, 1U);
    EXPECT_FALSE(usage.uses[1].decision.allowed);
    EXPECT_EQ(usage.uses[1].decision.retry_after, Duration(1min));
    EXPECT_EQ(usage.uses[2].decision.remaining, 25);
  }
  EXPECT_EQ(metrics_.Read({"d", "minute"}, Count::kTotalHits), 4U);
  EXPECT_EQ(metrics_.Read(CallResult::kOk), 1U);
}

TEST_F(UsageTest, WhatHasNoLimitIsNotListed) {
  Configure(kUsageTree);
  Usage usage;
  Look(usage, {{.entries = {{"free", "x"}}}, {.entries = {{"unknown", "x"}}}});
  EXPECT_EQ(usage.failure, UsageCall::Failure::kNone);
  EXPECT_TRUE(usage.uses.empty());
}

TEST_F(UsageTest, AResetMakesThemFresh) {
  Configure(kUsageTree, {.over_limit_cache_bytes = 4096});
  EXPECT_EQ(AskOne("minute", "x", 11).code, RlsCode::kOverLimit);
  (void)AskOne("minute", "y", 1);
  (void)AskOne("list", "x", 4);
  const RlsDescriptorText override_of_x{.entries = {{"minute", "x"}}, .limit = {{1, 3}}};
  (void)Ask({override_of_x});
  Reset({{.entries = {{"minute", "x"}}}, {.entries = {{"list", "x"}}}});
  EXPECT_EQ(AskOne("minute", "x", 1).limit_remaining, 9U);
  EXPECT_EQ(AskOne("list", "x", 1).limit_remaining, 2U);
  EXPECT_EQ(AskOne("minute", "y", 1).limit_remaining, 8U);
  EXPECT_TRUE(IsOver(Ask({override_of_x})));
  Reset({override_of_x});
  EXPECT_FALSE(IsOver(Ask({override_of_x})));
}

TEST_F(UsageTest, AnyValueStandsForASharedThreshold) {
  Configure(kUsageTree);
  (void)AskOne("path", "/api/1", 2);
  Usage usage;
  Look(usage, {{.entries = {{"path", "/api/2"}}}});
  ASSERT_EQ(usage.uses.size(), 1U);
  EXPECT_FALSE(usage.uses[0].decision.allowed);
  Reset({{.entries = {{"path", "/api/3"}}}});
  EXPECT_EQ(AskOne("path", "/api/4").code, RlsCode::kOk);
}

TEST_F(UsageTest, OurOwnSemanticsHaveTheSame) {
  Configure(kUsageTree, {.compatible = false});
  (void)AskOne("minute", "x", 10);
  Usage usage;
  Look(usage, {{.entries = {{"minute", "x"}}}});
  EXPECT_FALSE(usage.uses.at(0).decision.allowed);
  Reset({{.entries = {{"minute", "x"}}}});
  EXPECT_EQ(AskOne("minute", "x", 10).code, RlsCode::kOk);
}

TEST_F(UsageTest, WhatIsWrongIsSaid) {
  Configure("");
  const RlsDescriptorText one{.entries = {{"minute", "x"}}};
  Usage none;
  Look(none, {one});
  EXPECT_EQ(none.failure, UsageCall::Failure::kNoConfiguration);
  Load(kUsageTree);
  Usage stranger;
  Look(stranger, {one}, "e");
  EXPECT_EQ(stranger.failure, UsageCall::Failure::kNoDomain);
  EXPECT_THAT(stranger.failure_text, testing::HasSubstr("`e`"));
  Usage empty;
  Look(empty, {});
  EXPECT_EQ(empty.failure, UsageCall::Failure::kBadRequest);
  Usage many;
  Look(many, std::vector<RlsDescriptorText>(33, {.entries = {{"list", "x"}}}));
  EXPECT_EQ(many.failure, UsageCall::Failure::kBadRequest);
}

}  // namespace
}  // namespace sluice::envoy
