#include <chrono>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/envoy/call_fixture.h"

namespace sluice::envoy {
namespace {

using namespace std::chrono_literals;  // NOLINT(google-build-using-namespace)
using testing::ElementsAre;

constexpr const char* kFieldsTree = R"(
domain: d
descriptors:
  - key: minute
    rate_limit: {unit: minute, requests_per_unit: 10}
  - key: day
    rate_limit: {unit: day, requests_per_unit: 2, name: daily}
  - key: bucket
    rate_limit: {unit: minute, requests_per_unit: 60, algorithm: gcra, burst: 90}
  - key: list
    rate_limits:
      - {unit: second, requests_per_unit: 3}
      - {period: 1500ms, requests_per_unit: 4, algorithm: gcra}
  - key: shadow
    shadow_mode: true
    rate_limit: {unit: minute, requests_per_unit: 0}
  - key: nothing
    rate_limit: {unit: minute, requests_per_unit: 0}
  - key: q
    quota_mode: true
    rate_limit: {unit: hour, requests_per_unit: 1}
  - key: q
    value: soon
    quota_mode: true
    rate_limit: {unit: minute, requests_per_unit: 1}
)";

class LimitFieldsTest : public CallFixture {
 protected:
  std::vector<std::string> Told(const std::vector<RlsDescriptorText>& descriptors,
                                std::uint32_t hits = 0) {
    std::vector<std::string> told;
    for (const wire::RlsHeader& header : Ask(descriptors, hits).response.response_headers_to_add) {
      told.push_back(std::string(header.key) + ": " + header.value);
    }
    return told;
  }
};

TEST_F(LimitFieldsTest, EveryLimitIsTold) {
  Configure(kFieldsTree, {.ratelimit_fields = true});
  clock_.Advance(18s);
  EXPECT_THAT(Told({{.entries = {{"minute", "x"}}}, {.entries = {{"bucket", "x"}}}}),
              ElementsAre(R"(RateLimit-Policy: "minute";q=10;w=60, "bucket";q=90;w=90)",
                          R"(RateLimit: "minute";r=9;t=42, "bucket";r=89;t=89)"));
  EXPECT_THAT(Told({{.entries = {{"unknown", ""}}}}), ElementsAre());
}

TEST_F(LimitFieldsTest, ADenialHasNothingLeft) {
  Configure(kFieldsTree, {.ratelimit_fields = true});
  const std::vector<RlsDescriptorText> day{{.entries = {{"day", "x"}}}};
  EXPECT_THAT(Told(day, 3), ElementsAre(R"(RateLimit-Policy: "daily";q=2;w=86400)",
                                        R"(RateLimit: "daily";r=0;t=86400)"));
}

TEST_F(LimitFieldsTest, LimitsOfAListHaveNamesOfTheirOwn) {
  Configure(kFieldsTree, {.ratelimit_fields = true});
  EXPECT_THAT(Told({{.entries = {{"list", "x"}}}}),
              ElementsAre(R"(RateLimit-Policy: "list-1s";q=3;w=1, "list-1500ms-gcra";q=4;w=2)",
                          R"(RateLimit: "list-1s";r=2;t=1, "list-1500ms-gcra";r=3;t=2)"));
}

TEST_F(LimitFieldsTest, AnOverrideIsNamedByItsKeysAlone) {
  Configure(kFieldsTree, {.ratelimit_fields = true});
  EXPECT_THAT(
      Told({{.entries = {{"k\n\"1", "secret"}, {"k2", ""}}, .limit = {{7, 1}}}}),
      ElementsAre(R"(RateLimit-Policy: "k_\"1.k2";q=7;w=1)", R"(RateLimit: "k_\"1.k2";r=6;t=1)"));
}

TEST_F(LimitFieldsTest, WhatIsNotEnforcedIsNotTold) {
  Configure(kFieldsTree, {.ratelimit_fields = true});
  EXPECT_THAT(Told({{.entries = {{"shadow", "x"}}}}), ElementsAre());
  Configure(kFieldsTree,
            {.shadow_mode = true, .retry_after_header = true, .ratelimit_fields = true});
  EXPECT_THAT(Told({{.entries = {{"minute", "x"}}}}, 11), ElementsAre());
}

TEST_F(LimitFieldsTest, RetryAfterIsWhenTheSameRequestWouldPass) {
  Configure(kFieldsTree, {.retry_after_header = true});
  EXPECT_THAT(Told({{.entries = {{"bucket", "x"}}}}, 90), ElementsAre());
  EXPECT_THAT(Told({{.entries = {{"bucket", "x"}}}}, 3), ElementsAre("Retry-After: 3"));
  EXPECT_THAT(Told({{.entries = {{"minute", "x"}}}, {.entries = {{"day", "x"}}}}, 2),
              ElementsAre());
  EXPECT_THAT(Told({{.entries = {{"minute", "x"}}}, {.entries = {{"day", "x"}}}}, 2),
              ElementsAre("Retry-After: 86400"));
  clock_.Advance(59s + 900ms);
  (void)Told({{.entries = {{"minute", "y"}}}}, 10);
  EXPECT_THAT(Told({{.entries = {{"minute", "y"}}}}), ElementsAre("Retry-After: 1"));
}

TEST_F(LimitFieldsTest, NoRetryAfterIsSaidWhereWaitingDoesNotHelp) {
  Configure(kFieldsTree, {.retry_after_header = true});
  EXPECT_THAT(Told({{.entries = {{"nothing", "x"}}}}), ElementsAre());
  EXPECT_THAT(Told({{.entries = {{"minute", "x"}}}}, 11), ElementsAre());
  EXPECT_THAT(Told({{.entries = {{"bucket", "x"}}}}, 91), ElementsAre());
  EXPECT_THAT(Told({{.entries = {{"shadow", "x"}}}}), ElementsAre());
}

TEST_F(LimitFieldsTest, OfQuotasTheFirstThatIsFreeAgainCounts) {
  Configure(kFieldsTree, {.retry_after_header = true});
  const std::vector<RlsDescriptorText> both{{.entries = {{"q", "late"}}},
                                            {.entries = {{"q", "soon"}}}};
  EXPECT_THAT(Told(both), ElementsAre());
  EXPECT_THAT(Told(both), ElementsAre("Retry-After: 60"));
  clock_.Advance(60s);
  EXPECT_THAT(Told(both), ElementsAre());
}

}  // namespace
}  // namespace sluice::envoy
