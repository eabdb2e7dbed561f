// What counters are called where a Redis keeps them: by envoyproxy/ratelimit's rule, written down
// here once more and as plainly as it can be.

#include <deque>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/envoy/call_fixture.h"

namespace sluice::envoy {
namespace {

using testing::ElementsAre;

// Allows everything, and keeps the names that it was asked for.
class RecordingStore final : public store::KeyStore {
 public:
  void CheckMany(std::span<store::CheckCall* const> batch) override {
    for (store::CheckCall* const call : batch) {
      for (std::size_t i = 0; i < call->checks.size(); ++i) {
        const store::Check& check = call->checks[i];
        asked.emplace_back(check.key.parts[0].value);
        tallies += check.quota.algorithm == core::Algorithm::kAttemptWindow ? 1 : 0;
        call->answers[i].error = store::StoreError::kNone;
        call->answers[i].decision.allowed = true;
      }
      call->OnAnswered();
    }
  }
  void Refund(store::RefundCall& call) override {
    taken_back.emplace_back(call.key.parts[0].value);
    call.OnAnswered();
  }
  void Reset(store::ResetCall& call) override { call.OnAnswered(); }
  void Release(store::HoldCall& call) override { call.OnAnswered(); }
  void Renew(store::HoldCall& call) override { call.OnAnswered(); }

  std::vector<std::string> asked;
  std::vector<std::string> taken_back;
  int tallies = 0;
};

constexpr const char* kTree = R"(
domain: d
descriptors:
  - key: k
    rate_limit: {unit: minute, requests_per_unit: 5}
  - key: k
    value: v
    rate_limit: {unit: second, requests_per_unit: 5}
  - key: wild
    value: foo*
    rate_limit: {unit: hour, requests_per_unit: 5}
  - key: files
    value: files/*
    share_threshold: true
    rate_limit: {unit: hour, requests_per_unit: 5}
    descriptors:
      - key: user
        rate_limit: {unit: day, requests_per_unit: 5}
  - key: us*
    share_threshold: true
    rate_limit: {unit: hour, requests_per_unit: 5}
  - key: ho*
    value: a*
    share_threshold: true
    rate_limit: {unit: hour, requests_per_unit: 5}
  - key: free
    rate_limit: {unlimited: true}
  - key: quota
    quota_mode: true
    rate_limit: {unit: week, requests_per_unit: 5}
  - key: list
    rate_limits:
      - {unit: minute, requests_per_unit: 5}
      - {unit: hour, requests_per_unit: 50}
      - {unit: hour, requests_per_unit: 50, algorithm: gcra}
  - key: bucket
    rate_limit: {unit: hour, requests_per_unit: 5, algorithm: token_bucket}
)";

class CounterNameTest : public CallFixture {
 protected:
  void SetUp() override { Open({.old_counter_names = true}); }

  void Open(Settings settings) {
    service_ = std::make_unique<RateLimitService>(store_, clock_, metrics_, std::move(settings));
    pin_ = std::make_unique<ConfigurationPin>(*service_);
    Load(kTree);
  }

  std::vector<std::string> NamesOf(const std::vector<RlsDescriptorText>& descriptors) {
    store_.asked.clear();
    (void)Ask(descriptors);
    return store_.asked;
  }

  RecordingStore store_;
};

TEST_F(CounterNameTest, IsDomainKeysAndValuesEachWithAnUnderscoreBehind) {
  EXPECT_THAT(NamesOf({{.entries = {{"k", "v"}}}, {.entries = {{"k", "w"}}}}),
              ElementsAre("d_k_v_", "d_k_w_"));
  EXPECT_THAT(NamesOf({{.entries = {{"k", ""}}}}), ElementsAre("d_k__"));
  EXPECT_THAT(NamesOf({{.entries = {{"quota", "q"}}}}), ElementsAre("d_quota_q_"));
}

TEST_F(CounterNameTest, HasTheValueThatCameUnlessTheThresholdIsShared) {
  EXPECT_THAT(NamesOf({{.entries = {{"wild", "foobar"}}}}), ElementsAre("d_wild_foobar_"));
  EXPECT_THAT(NamesOf({{.entries = {{"files", "files/a.pdf"}}}}), ElementsAre("d_files_files/*_"));
  EXPECT_THAT(NamesOf({{.entries = {{"files", "files/b"}, {"user", "u"}}}}),
              ElementsAre("d_files_files/*_user_u_"));
}

// There the pattern is `key_value` in one, from which only a key that is the request's is taken.
TEST_F(CounterNameTest, HasTheWholePatternWhereTheKeyIsOne) {
  EXPECT_THAT(NamesOf({{.entries = {{"user", "u"}}}}), ElementsAre("d_user_us*_"));
  EXPECT_THAT(NamesOf({{.entries = {{"host", "abc"}}}}), ElementsAre("d_host_ho*_a*_"));
}

TEST_F(CounterNameTest, OfAnOverrideHasEveryValue) {
  EXPECT_THAT(NamesOf({{.entries = {{"files", "files/a"}, {"x", "y"}}, .limit = {{7, 2}}}}),
              ElementsAre("d_files_files/a_x_y_"));
}

TEST_F(CounterNameTest, IsTheSameForPeeksAndForHitsThatAreTakenBack) {
  EXPECT_THAT(NamesOf({{.entries = {{"k", "v"}}, .hits = 0}}), ElementsAre("d_k_v_"));
  (void)Ask({{.entries = {{"k", "v"}}, .hits = 2, .negative = true}});
  EXPECT_THAT(store_.taken_back, ElementsAre("d_k_v_"));
}

TEST_F(CounterNameTest, WhatIsUnlimitedHasNone) {
  EXPECT_THAT(NamesOf({{.entries = {{"free", "f"}}}}), ElementsAre());
}

// Both windows begin at the hour, which is all that the old name would say of them.
TEST_F(CounterNameTest, OfAListHasTheLengthOfItsWindow) {
  EXPECT_THAT(NamesOf({{.entries = {{"list", "v"}}}}),
              ElementsAre("d_list_v_60s_", "d_list_v_3600s_", "d|list=v"));
}

TEST_F(CounterNameTest, BeginsWithThePrefix) {
  Open({.old_counter_names = true, .cache_key_prefix = "old:"});
  EXPECT_THAT(NamesOf({{.entries = {{"k", "v"}}}}), ElementsAre("old:d_k_v_"));
}

TEST_F(CounterNameTest, OfOurAlgorithmsIsOurs) {
  EXPECT_THAT(NamesOf({{.entries = {{"bucket", "b_c"}}}}), ElementsAre("d|bucket=b_c"));
  EXPECT_EQ(store_.tallies, 0);
}

TEST_F(CounterNameTest, IsTheRulesForAnyTexts) {
  std::mt19937_64 random(7);
  const auto text = [&random] {
    static constexpr std::string_view kBytes("_ab|=\\*{}\n\0", 11);
    std::string made;
    for (std::uint64_t size = random() % 5; made.size() < size;) {
      made += kBytes[random() % kBytes.size()];
    }
    return made;
  };
  for (int i = 0; i < 500; ++i) {
    RlsDescriptorText descriptor;
    std::string name = "d_";
    for (std::uint64_t entries = 1 + random() % 4; descriptor.entries.size() < entries;) {
      const std::string key = text();
      const std::string value = text();
      name += key + "_" + value + "_";
      descriptor.entries.push_back({key, value});
    }
    descriptor.limit = {{5, 1 + static_cast<std::uint32_t>(random() % 7)}};
    EXPECT_THAT(NamesOf({descriptor}), ElementsAre(name));
  }
}

}  // namespace
}  // namespace sluice::envoy
