#include <chrono>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/envoy/call_fixture.h"

namespace sluice::envoy {
namespace {

using namespace std::chrono_literals;  // NOLINT(google-build-using-namespace)
using wire::RlsCode;

// A descriptor with several limits. The fixture's clock stands at the beginning of a day, where all
// windows begin at once.
class LimitListTest : public CallFixture {};

constexpr const char* kListTree = R"(
domain: d
descriptors:
  - key: k
    rate_limits:
      - {unit: second, requests_per_unit: 3, name: s}
      - {unit: minute, requests_per_unit: 10, name: m}
      - {unit: hour, requests_per_unit: 12, name: h}
  - key: bucket
    rate_limits:
      - {unit: second, requests_per_unit: 1, algorithm: token_bucket, burst: 5}
      - {unit: second, requests_per_unit: 4}
  - key: vip
    rate_limit: {unlimited: true, replaces: [{name: s}, {name: h}]}
)";

TEST_F(LimitListTest, TheStatusTellsTheLimitWithTheLeastLeft) {
  Configure(kListTree);
  wire::RlsStatus status = AskOne("k", "x");
  EXPECT_EQ(status.name, "s");
  EXPECT_EQ(status.limit_remaining, 2U);
  for (int second = 0; second < 2; ++second) {
    clock_.Advance(1s);
    status = AskOne("k", "x", 3);
  }
  // 7 are counted: 0 of 3, 3 of 10, 5 of 12 are left.
  EXPECT_EQ(status.name, "s");
  clock_.Advance(1s);
  EXPECT_EQ(AskOne("k", "x").name, "s");  // 2 of both: the first one.
  clock_.Advance(1s);
  status = AskOne("k", "x");
  EXPECT_EQ(status.name, "m");
  EXPECT_EQ(status.requests_per_unit, 10U);
  EXPECT_EQ(status.limit_remaining, 1U);
  EXPECT_EQ(status.seconds_until_reset, 56);
}

TEST_F(LimitListTest, EachIsEnforcedAndADenialTellsTheLongestWait) {
  Configure(kListTree);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(AskOne("k", "x").code, RlsCode::kOk);
  }
  wire::RlsStatus status = AskOne("k", "x");
  EXPECT_EQ(status.code, RlsCode::kOverLimit);
  EXPECT_EQ(status.name, "s");
  EXPECT_EQ(status.seconds_until_reset, 1);
  EXPECT_EQ(AskOne("k", "y").code, RlsCode::kOk);
  // Denied hits count, as each limit is one of the old service's: 4, and 7 more.
  clock_.Advance(1s);
  status = AskOne("k", "x", 7);
  EXPECT_EQ(status.name, "m");
  EXPECT_EQ(status.code, RlsCode::kOverLimit);
  EXPECT_EQ(status.seconds_until_reset, 59);
  clock_.Advance(59s);
  EXPECT_EQ(AskOne("k", "x").code, RlsCode::kOk);
  status = AskOne("k", "x");
  EXPECT_EQ(status.name, "h");
  EXPECT_EQ(status.code, RlsCode::kOverLimit);
}

TEST_F(LimitListTest, OurOwnSemanticsChargeNoneWhereOneDenies) {
  Configure(kListTree, {.compatible = false});
  EXPECT_EQ(AskOne("k", "x", 3).code, RlsCode::kOk);
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(AskOne("k", "x").code, RlsCode::kOverLimit);
  }
  clock_.Advance(1s);
  EXPECT_EQ(AskOne("k", "x", 3).code, RlsCode::kOk);
  clock_.Advance(1s);
  EXPECT_EQ(AskOne("k", "x", 3).code, RlsCode::kOk);
  clock_.Advance(1s);
  const wire::RlsStatus status = AskOne("k", "x", 2);
  EXPECT_EQ(status.name, "m");
  EXPECT_EQ(status.limit_remaining, 1U);
}

TEST_F(LimitListTest, AlgorithmsMayBeMixed) {
  Configure(kListTree);
  EXPECT_EQ(AskOne("bucket", "x", 4).code, RlsCode::kOk);
  clock_.Advance(1s);
  // 2 of the bucket are left, 4 of the new window.
  const wire::RlsStatus status = AskOne("bucket", "x", 3);
  EXPECT_EQ(status.code, RlsCode::kOverLimit);
  EXPECT_EQ(status.limit_remaining, 2U);
  EXPECT_EQ(status.seconds_until_reset, 1);
}

TEST_F(LimitListTest, AHitIsOneHitInTheStatistics) {
  Configure(kListTree);
  (void)AskOne("k", "x", 3);
  (void)AskOne("k", "x", 2);
  const auto read = [this](Count count) { return metrics_.Read({"d", "k"}, count); };
  EXPECT_EQ(read(Count::kTotalHits), 5U);
  EXPECT_EQ(read(Count::kWithinLimit), 3U);
  EXPECT_EQ(read(Count::kOverLimit), 2U);
}

TEST_F(LimitListTest, OnesThatAreReplacedLeaveTheOthers) {
  Configure(kListTree);
  const Call& call = Ask({{.entries = {{"k", "x"}}}, {.entries = {{"vip", ""}}}}, 10);
  EXPECT_EQ(call.response.statuses[0].name, "m");
  EXPECT_EQ(call.response.statuses[0].code, RlsCode::kOk);
  EXPECT_EQ(call.response.statuses[1].limit_remaining, 4'294'967'295U);
  EXPECT_EQ(AskOne("k", "x", 1).name, "m");  // The only one that knows of the ten.
}

TEST_F(LimitListTest, NegativeHitsAreTakenBackFromEach) {
  Configure(kListTree);
  (void)AskOne("k", "x", 3);
  (void)Ask({{.entries = {{"k", "x"}}, .hits = 2, .negative = true}});
  const wire::RlsStatus status = AskOne("k", "x", 2);
  EXPECT_EQ(status.limit_remaining, 0U);
  EXPECT_EQ(status.name, "s");
  clock_.Advance(1s);
  EXPECT_EQ(AskOne("k", "x", 3).code, RlsCode::kOk);
  clock_.Advance(1s);
  EXPECT_EQ(AskOne("k", "x", 3).code, RlsCode::kOk);
  clock_.Advance(1s);
  EXPECT_EQ(AskOne("k", "x", 1).limit_remaining, 0U);
}

TEST_F(LimitListTest, TheCacheOfCountersKeepsWindowsThatBeginTogetherApart) {
  Configure(kListTree, {.over_limit_cache_bytes = 4096});
  EXPECT_EQ(AskOne("k", "x", 4).name, "s");
  const Call& call = Ask({{.entries = {{"k", "x"}}}});
  EXPECT_EQ(call.response.statuses[0].name, "s");
  EXPECT_EQ(metrics_.Read({"d", "k"}, Count::kOverLimitWithLocalCache), 1U);
  clock_.Advance(1s);
  EXPECT_EQ(AskOne("k", "x", 3).code, RlsCode::kOk);
}

TEST_F(LimitListTest, TheLimitsOfARequestAreCountedAndNotItsDescriptors) {
  Configure(kListTree);
  std::vector<RlsDescriptorText> many(21, {.entries = {{"k", "x"}}});
  EXPECT_EQ(Ask(many).failure, RateLimitCall::Failure::kNone);
  many.push_back(many.front());
  EXPECT_EQ(Ask(many).failure, RateLimitCall::Failure::kTooMany);
}

}  // namespace
}  // namespace sluice::envoy
