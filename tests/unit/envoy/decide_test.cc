#include <chrono>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/envoy/call_fixture.h"

namespace sluice::envoy {
namespace {

using namespace std::chrono_literals;  // NOLINT(google-build-using-namespace)
using testing::ElementsAre;
using wire::RlsCode;
using Failure = RateLimitCall::Failure;

class DecideTest : public CallFixture {};

constexpr const char* kDecideTree = R"(
domain: d
descriptors:
  - key: minute
    rate_limit: {unit: minute, requests_per_unit: 10, name: m}
  - key: shadow
    rate_limit: {unit: minute, requests_per_unit: 1}
    shadow_mode: true
  - key: free
    rate_limit: {unlimited: true}
  - key: none
    rate_limit: {unit: day, requests_per_unit: 0}
  - key: allowed
    value: friend
  - key: allowed
    rate_limit: {unit: minute, requests_per_unit: 1}
  - key: path
    value: "/api/*"
    share_threshold: true
    rate_limit: {unit: minute, requests_per_unit: 2}
  - key: own
    value: "/api/*"
    rate_limit: {unit: minute, requests_per_unit: 2}
  - key: a
    rate_limit: {unit: minute, requests_per_unit: 5}
    descriptors:
      - key: b
        descriptors:
          - key: c
            rate_limit: {unit: minute, requests_per_unit: 5}
)";

TEST_F(DecideTest, EachDecidedCallIsRecordedOnce) {
  Configure(kDecideTree);
  AskOne("a", "x");
  AskOne("none", "x");
  Ask({});  // Refused: no descriptor.
  const auto top = insight_.Top({});
  ASSERT_EQ(top.rules.size(), 1U);
  EXPECT_EQ(top.rules[0].rule, kEnvoyRule);
  EXPECT_THAT(top.rules[0].totals, ElementsAre(1, 1, 0, 0, 2));  // Allowed, denied, ... all.
}

TEST_F(DecideTest, CountsDownAndSaysWhenTheWindowEnds) {
  Configure(kDecideTree);
  clock_.Advance(17s + 250ms);
  for (std::uint32_t left = 9; left + 1 > 0; --left) {
    const wire::RlsStatus status = AskOne("minute", "x");
    EXPECT_EQ(status.code, RlsCode::kOk);
    EXPECT_EQ(status.limit_remaining, left);
    EXPECT_EQ(status.requests_per_unit, 10U);
    EXPECT_EQ(status.unit, 2U);
    EXPECT_EQ(status.name, "m");
    EXPECT_EQ(status.seconds_until_reset, 43);
  }
  EXPECT_EQ(AskOne("minute", "x").code, RlsCode::kOverLimit);
  EXPECT_EQ(AskOne("minute", "y").code, RlsCode::kOk);
  clock_.Advance(43s);
  EXPECT_EQ(AskOne("minute", "x").limit_remaining, 9U);
}

TEST_F(DecideTest, HitsOfADescriptorComeBeforeThoseOfTheRequest) {
  Configure(kDecideTree);
  EXPECT_EQ(AskOne("minute", "x", 4).limit_remaining, 6U);
  EXPECT_EQ(
      Ask({{.entries = {{"minute", "x"}}, .hits = 3}}, 100).response.statuses[0].limit_remaining,
      3U);
  // 0 of a descriptor looks; 0 of the request is 1.
  EXPECT_EQ(Ask({{.entries = {{"minute", "x"}}, .hits = 0}}).response.statuses[0].limit_remaining,
            3U);
  EXPECT_EQ(AskOne("minute", "x", 0).limit_remaining, 2U);
}

TEST_F(DecideTest, HitsThatOvershootAreCountedAllTheSame) {
  Configure(kDecideTree);
  EXPECT_EQ(AskOne("minute", "x", 8).code, RlsCode::kOk);
  const wire::RlsStatus over = AskOne("minute", "x", 5);
  EXPECT_EQ(over.code, RlsCode::kOverLimit);
  EXPECT_EQ(over.limit_remaining, 0U);
  EXPECT_EQ(AskOne("minute", "x", 1).code, RlsCode::kOverLimit);
}

TEST_F(DecideTest, OneCounterTwiceInARequestIsCountedTwiceInOrder) {
  Configure(kDecideTree);
  const Call& call = Ask({{.entries = {{"minute", "x"}}}, {.entries = {{"minute", "x"}}}}, 6);
  EXPECT_EQ(call.response.statuses[0].code, RlsCode::kOk);
  EXPECT_EQ(call.response.statuses[1].code, RlsCode::kOverLimit);
  EXPECT_TRUE(IsOver(call));
}

TEST_F(DecideTest, EachDescriptorIsCountedForItself) {
  Configure(kDecideTree);
  EXPECT_TRUE(IsOver(Ask({{.entries = {{"minute", "x"}}}, {.entries = {{"none", ""}}}})));
  EXPECT_EQ(AskOne("minute", "x").limit_remaining, 8U);
}

TEST_F(DecideTest, OnlyTheLimitOfTheLastEntryApplies) {
  Configure(kDecideTree);
  EXPECT_TRUE(AskOne("a", "1").has_limit);
  EXPECT_FALSE(Ask({{.entries = {{"a", "1"}, {"b", "2"}}}}).response.statuses[0].has_limit);
  EXPECT_TRUE(
      Ask({{.entries = {{"a", "1"}, {"b", "2"}, {"c", "3"}}}}).response.statuses[0].has_limit);
  EXPECT_FALSE(Ask({{.entries = {{"b", "2"}, {"a", "1"}}}}).response.statuses[0].has_limit);
  EXPECT_FALSE(Ask({{.entries = {}}}).response.statuses[0].has_limit);
}

TEST_F(DecideTest, WhatHasNoLimitIsOkAndSaysNothing) {
  Configure(kDecideTree);
  for (const char* value : {"friend"}) {
    for (int i = 0; i < 3; ++i) {
      const wire::RlsStatus status = AskOne("allowed", value);
      EXPECT_EQ(status.code, RlsCode::kOk);
      EXPECT_FALSE(status.has_limit);
      EXPECT_EQ(status.limit_remaining, 0U);
    }
  }
  EXPECT_EQ(AskOne("free", "x", 7).limit_remaining, 4'294'967'295U);
  EXPECT_FALSE(AskOne("free", "x", 7).has_limit);
  const Call& stranger = Ask({{.entries = {{"minute", "x"}}}}, 0, "D");
  EXPECT_FALSE(stranger.response.statuses[0].has_limit);
  EXPECT_EQ(stranger.response.overall_code, RlsCode::kOk);
}

TEST_F(DecideTest, AWildcardCountsByValueUnlessItsThresholdIsShared) {
  Configure(kDecideTree);
  EXPECT_EQ(AskOne("own", "/api/1", 2).code, RlsCode::kOk);
  EXPECT_EQ(AskOne("own", "/api/2", 2).code, RlsCode::kOk);
  EXPECT_EQ(AskOne("path", "/api/1", 2).code, RlsCode::kOk);
  EXPECT_EQ(AskOne("path", "/api/2").code, RlsCode::kOverLimit);
}

TEST_F(DecideTest, ShadowSaysOkWithNothingLeft) {
  Configure(kDecideTree);
  (void)AskOne("shadow", "x");
  const Call& call = Ask({{.entries = {{"shadow", "x"}}}});
  EXPECT_EQ(call.response.statuses[0].code, RlsCode::kOk);
  EXPECT_EQ(call.response.statuses[0].limit_remaining, 0U);
  EXPECT_FALSE(IsOver(call));
  EXPECT_EQ(metrics_.Read({"d", "shadow"}, Count::kShadowMode), 1U);
}

TEST_F(DecideTest, GlobalShadowLeavesTheStatuses) {
  Configure(kDecideTree, {.shadow_mode = true});
  const Call& call = Ask({{.entries = {{"none", "x"}}}});
  EXPECT_EQ(call.response.statuses[0].code, RlsCode::kOverLimit);
  EXPECT_EQ(call.response.overall_code, RlsCode::kOk);
}

TEST_F(DecideTest, QuotasDenyOnlyWhenAllAreUsedUp) {
  Configure(R"(
domain: d
descriptors:
  - key: q
    quota_mode: true
    rate_limit: {unit: day, requests_per_unit: 1}
  - key: n
    rate_limit: {unit: day, requests_per_unit: 100}
)");
  (void)AskOne("q", "1");
  EXPECT_FALSE(IsOver(Ask({{.entries = {{"q", "1"}}}, {.entries = {{"q", "2"}}}})));
  EXPECT_TRUE(IsOver(Ask({{.entries = {{"q", "1"}}}, {.entries = {{"q", "2"}}}})));
  EXPECT_TRUE(IsOver(Ask({{.entries = {{"q", "1"}}}, {.entries = {{"n", ""}}}})));
}

TEST_F(DecideTest, WithGlobalQuotaModeWhatHasNoLimitIsAQuota) {
  Configure(kDecideTree, {.quota_mode = true});
  EXPECT_FALSE(IsOver(Ask({{.entries = {{"none", "1"}}}, {.entries = {{"unknown", ""}}}})));
  EXPECT_TRUE(IsOver(Ask({{.entries = {{"none", "1"}}}, {.entries = {{"free", ""}}}})));
}

TEST_F(DecideTest, WhatIsReplacedIsNotCounted) {
  Configure(R"(
domain: d
descriptors:
  - key: all
    rate_limit: {unit: day, requests_per_unit: 1, name: base}
  - key: vip
    rate_limit: {unlimited: true, replaces: [{name: base}]}
)");
  for (int i = 0; i < 3; ++i) {
    const Call& call = Ask({{.entries = {{"all", "x"}}}, {.entries = {{"vip", "x"}}}});
    EXPECT_FALSE(IsOver(call));
    EXPECT_FALSE(call.response.statuses[0].has_limit);
  }
  EXPECT_EQ(AskOne("all", "x").code, RlsCode::kOk);
  EXPECT_EQ(AskOne("all", "x").code, RlsCode::kOverLimit);
}

TEST_F(DecideTest, AnOverrideTakesThePlaceOfTheTree) {
  Configure(kDecideTree);
  const RlsDescriptorText text{.entries = {{"anything", "x"}}, .limit = {{3, 3}}};
  const wire::RlsStatus first = Ask({text}, 3).response.statuses[0];
  EXPECT_EQ(first.requests_per_unit, 3U);
  EXPECT_EQ(first.unit, 3U);
  EXPECT_EQ(first.code, RlsCode::kOk);
  EXPECT_EQ(first.name, "");
  EXPECT_TRUE(IsOver(Ask({text})));
  EXPECT_FALSE(IsOver(Ask({text}, 9, "unknown")));
  EXPECT_EQ(metrics_.Read({"d", "anything_x"}, Count::kOverLimit), 1U);
}

TEST_F(DecideTest, AnOverrideWithoutAUnitIsPassedOver) {
  Configure(kDecideTree);
  for (const std::uint32_t unit : {0U, 8U, 4'000'000'000U}) {
    const Call& call = Ask({{.entries = {{"minute", "x"}}, .limit = {{1, unit}}}});
    EXPECT_EQ(call.response.statuses[0].requests_per_unit, 10U);
  }
}

TEST_F(DecideTest, NegativeHitsAreTakenBack) {
  Configure(kDecideTree);
  (void)AskOne("minute", "x", 10);
  const RlsDescriptorText back{.entries = {{"minute", "x"}}, .hits = 4, .negative = true};
  const Call& call = Ask({back});
  EXPECT_EQ(call.response.statuses[0].code, RlsCode::kOk);
  EXPECT_EQ(call.response.statuses[0].limit_remaining, 4U);
  EXPECT_EQ(metrics_.Read({"d", "minute"}, Count::kTotalNegativeHits), 4U);
  (void)Ask({{.entries = {{"minute", "x"}}, .hits = 1'000, .negative = true}});
  EXPECT_EQ(AskOne("minute", "x").limit_remaining, 9U);
}

TEST_F(DecideTest, WhatIsWrongIsSaidInOrder) {
  Configure("");
  EXPECT_EQ(Ask({}, 0, "").failure_text, "rate limit domain must not be empty");
  EXPECT_EQ(Ask({}).failure_text, "rate limit descriptor list must not be empty");
  EXPECT_EQ(Ask({{.entries = {{"a", "b"}}}}).failure_text, "no rate limit configuration loaded");
  EXPECT_EQ(call_.failure, Failure::kNoConfiguration);
  EXPECT_EQ(metrics_.Read(CallResult::kServiceError), 3U);
  Load(kDecideTree);
  std::vector<RlsDescriptorText> many;
  for (int i = 0; i < 65; ++i) {
    many.push_back({.entries = {{"minute", std::to_string(i)}}});
  }
  EXPECT_EQ(Ask(many).failure, Failure::kTooMany);
}

TEST_F(DecideTest, AReloadKeepsWhatWasCounted) {
  Configure("domain: d\ndescriptors: [{key: k, rate_limit: {unit: hour, requests_per_unit: 5}}]\n");
  (void)AskOne("k", "x", 5);
  Load("domain: d\ndescriptors: [{key: k, rate_limit: {unit: hour, requests_per_unit: 8}}]\n");
  EXPECT_EQ(AskOne("k", "x").limit_remaining, 2U);
  EXPECT_EQ(metrics_.Read({"d", "k"}, Count::kTotalHits), 6U);
}

TEST_F(DecideTest, KeysAndValuesDoNotRunTogether) {
  Configure(kDecideTree);
  (void)Ask({{.entries = {{"a", "x|b=y"}}}}, 5);
  EXPECT_EQ(AskOne("a", "x").limit_remaining, 4U);
  const std::string longer(3'000, 'x');
  EXPECT_EQ(AskOne("a", longer + "1", 5).code, RlsCode::kOk);
  EXPECT_EQ(AskOne("a", longer + "1").code, RlsCode::kOverLimit);
  EXPECT_EQ(AskOne("a", longer + "2").code, RlsCode::kOk);
}

TEST_F(DecideTest, HeadersTellTheScarcestOrTheLastThatDenies) {
  Configure(kDecideTree, {.response_headers = true, .retry_after_header = true});
  const auto told = [this](const std::vector<RlsDescriptorText>& descriptors) {
    std::vector<std::string> values;
    for (const wire::RlsHeader& header : Ask(descriptors).response.response_headers_to_add) {
      values.push_back(std::string(header.key) + "=" + header.value);
    }
    return values;
  };
  EXPECT_THAT(told({{.entries = {{"unknown", ""}}}}), ElementsAre());
  EXPECT_THAT(told({{.entries = {{"minute", "h"}}}, {.entries = {{"a", "h"}}}}),
              ElementsAre("RateLimit-Limit=5", "RateLimit-Remaining=4", "RateLimit-Reset=60"));
  EXPECT_THAT(told({{.entries = {{"none", "h"}}}, {.entries = {{"none", "i"}}, .limit = {{0, 2}}}}),
              ElementsAre("RateLimit-Limit=0", "RateLimit-Remaining=0", "RateLimit-Reset=60"));
}

TEST_F(DecideTest, MetadataIsMergedInOrderOfTheRequest) {
  Configure(R"(
domain: d
descriptors:
  - key: a
    rate_limit: {unit: day, requests_per_unit: 5}
    metadata: {who: {team: one}, x: 1}
  - key: b
    rate_limit: {unit: day, requests_per_unit: 5}
    metadata: {who: {team: two, mail: m}, x: 2}
  - key: c
    rate_limit: {unit: day, requests_per_unit: 0}
    metadata: {z: 3}
)",
            {.dynamic_metadata = true});
  const Call& call = Ask(
      {{.entries = {{"a", "1"}}}, {.entries = {{"b", ""}}, .hits = 2}, {.entries = {{"c", ""}}}},
      3);
  std::string json;
  call.response.dynamic_metadata.AppendJson(json);
  EXPECT_EQ(
      json,
      R"({"domain":"d","descriptors":[{"entries":["a=1"]},{"entries":["b="],"hitsAddend":2},)"
      R"({"entries":["c="]}],"hitsAddend":3,"metadata":{"who":{"team":"one","mail":"m"},"x":1}})");
}

TEST_F(DecideTest, TheCacheOfCountersOverTheirLimitSavesCounting) {
  Configure(kDecideTree, {.over_limit_cache_bytes = 4096});
  (void)AskOne("minute", "x", 11);
  EXPECT_EQ(AskOne("minute", "x", 5).code, RlsCode::kOverLimit);
  EXPECT_EQ(metrics_.Read({"d", "minute"}, Count::kOverLimitWithLocalCache), 5U);
  EXPECT_EQ(call_.response.statuses[0].seconds_until_reset, 60);
  Load(std::string(kDecideTree));
  (void)Ask({{.entries = {{"minute", "x"}}, .hits = 11, .negative = true}});
  EXPECT_EQ(AskOne("minute", "x").code, RlsCode::kOverLimit);  // As the old service does.
  clock_.Advance(60s);
  EXPECT_EQ(AskOne("minute", "x").code, RlsCode::kOk);
}

TEST_F(DecideTest, ACounterThatWouldGoOverStopsTheOthersWhereThatIsAskedFor) {
  Configure(kDecideTree, {.stop_counting_when_over = true});
  const Call& call = Ask({{.entries = {{"minute", "x"}}}, {.entries = {{"none", "x"}}}});
  EXPECT_TRUE(IsOver(call));
  EXPECT_EQ(call.response.statuses[0].limit_remaining, 10U);
  EXPECT_EQ(AskOne("minute", "x").limit_remaining, 9U);
}

TEST_F(DecideTest, OurOwnSemanticsChargeAllOrNothing) {
  Configure(kDecideTree, {.compatible = false});
  EXPECT_TRUE(IsOver(Ask({{.entries = {{"minute", "x"}}}, {.entries = {{"none", ""}}}})));
  EXPECT_EQ(AskOne("minute", "x", 8).limit_remaining, 2U);
  const wire::RlsStatus over = AskOne("minute", "x", 5);
  EXPECT_EQ(over.code, RlsCode::kOverLimit);
  EXPECT_EQ(over.limit_remaining, 2U);
  EXPECT_EQ(AskOne("minute", "x", 2).code, RlsCode::kOk);
}

TEST_F(DecideTest, ABucketSaysWhenToComeBack) {
  Configure(R"(
domain: d
descriptors:
  - key: b
    rate_limit: {unit: minute, requests_per_unit: 60, algorithm: token_bucket, burst: 3}
)");
  EXPECT_EQ(AskOne("b", "x", 3).limit_remaining, 0U);
  const wire::RlsStatus over = AskOne("b", "x", 2);
  EXPECT_EQ(over.code, RlsCode::kOverLimit);
  EXPECT_EQ(over.seconds_until_reset, 2);
  clock_.Advance(2s);
  EXPECT_EQ(AskOne("b", "x", 2).code, RlsCode::kOk);
}

TEST_F(DecideTest, StatisticsAreThoseOfTheOldService) {
  Configure(kDecideTree);
  const auto read = [this](Count count) { return metrics_.Read({"d", "minute"}, count); };
  (void)AskOne("minute", "x", 7);  // 7 of 10; 8 is near.
  EXPECT_EQ(read(Count::kWithinLimit), 7U);
  EXPECT_EQ(read(Count::kNearLimit), 0U);
  (void)AskOne("minute", "x", 2);  // 9.
  EXPECT_EQ(read(Count::kNearLimit), 1U);
  (void)AskOne("minute", "x", 3);  // 12: one fitted.
  EXPECT_EQ(read(Count::kOverLimit), 2U);
  EXPECT_EQ(read(Count::kNearLimit), 2U);
  (void)AskOne("minute", "x", 3);
  EXPECT_EQ(read(Count::kOverLimit), 5U);
  EXPECT_EQ(read(Count::kTotalHits), 15U);
  EXPECT_EQ(read(Count::kWithinLimit), 9U);
}

TEST_F(DecideTest, ValuesCountApartOnlyWhereThatIsAskedFor) {
  Configure(R"(
domain: d
descriptors:
  - key: v
    value_to_metric: true
    descriptors:
      - key: w
        rate_limit: {unit: day, requests_per_unit: 5}
  - key: p
    rate_limit: {unit: day, requests_per_unit: 5}
  - key: i
    detailed_metric: true
    rate_limit: {unit: day, requests_per_unit: 5}
)");
  (void)Ask({{.entries = {{"v", "1"}, {"w", "2"}}}});
  (void)AskOne("p", "3");
  (void)AskOne("i", "10.0.0.1:80");
  EXPECT_EQ(metrics_.Read({"d", "v_1", "w"}, Count::kTotalHits), 1U);
  EXPECT_EQ(metrics_.Read({"d", "p"}, Count::kTotalHits), 1U);
  EXPECT_EQ(metrics_.Read({"d", "p_3"}, Count::kTotalHits), 0U);
  EXPECT_EQ(metrics_.Read({"d", "i_10_0_0_1_80"}, Count::kTotalHits), 1U);
  for (int i = 0; i < 20'000; ++i) {
    (void)AskOne("i", std::to_string(i));
  }
  EXPECT_GT(metrics_.Read({"d", "i"}, Count::kTotalHits), 9'000U);  // What had no counter left.
  std::string text;
  telemetry::PrometheusText exposition(text);
  metrics_.Write(exposition);
  EXPECT_THAT(text, testing::HasSubstr("ratelimit_service_rate_limit_total_hits{domain=\"d\","
                                       "key1=\"v_1\",key2=\"w\"} 1"));
}

}  // namespace
}  // namespace sluice::envoy
