#include "service/fallback.h"

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "envoy/usage_call.h"
#include "support/scripted_store.h"
#include "unit/envoy/call_fixture.h"

// Envoy's service over a store that is away when the test says so. It falls back on the path of all
// front ends; here is what its policies, its atomicity and its own steps make of that.
namespace sluice::envoy {
namespace {

using namespace std::chrono_literals;  // NOLINT(google-build-using-namespace)
using store::StoreError;
using testing::ElementsAre;
using Failure = RateLimitCall::Failure;

constexpr const char* kFallbackTree = R"(
domain: d
descriptors:
  - {key: fail, rate_limit: {unit: minute, requests_per_unit: 5}}
  - {key: allow, rate_limit: {unit: minute, requests_per_unit: 5, on_store_error: allow}}
  - {key: deny, rate_limit: {unit: minute, requests_per_unit: 5, on_store_error: deny}}
  - {key: local, rate_limit: {unit: minute, requests_per_unit: 5, on_store_error: local}}
)";

class EnvoyFallbackTest : public CallFixture {
 protected:
  void Open(Settings settings = {}) {
    Configure("", {});  // The table stands in for the store.
    fallback_ = std::make_unique<service::Fallback>(*table_, nodes_);
    service_ = std::make_unique<RateLimitService>(store_, clock_, metrics_, std::move(settings),
                                                  fallback_.get());
    pin_ = std::make_unique<ConfigurationPin>(*service_);
    Load(kFallbackTree);
  }
  void GoAway() { store_.call_error = StoreError::kUnavailable; }
  // The store answers for every counter but those of descriptor `key`.
  void LoseOnly(const std::string& key) {
    store_.script = [key](const store::Check& check) {
      const bool lost = check.key.parts.front().value.find("|" + key + "=") != std::string::npos;
      return store::CheckAnswer{.error = lost ? StoreError::kUnavailable : StoreError::kNone,
                                .decision = {.allowed = !lost, .limit = 5, .remaining = 4},
                                .charged = !lost};
    };
  }
  // Every counter goes over its limit for 30 seconds, of which `left` hits were left.
  void DenyAll(Units left = 0) {
    store_.script = [left](const store::Check&) {
      return store::CheckAnswer{.decision = {.reason = Reason::kQuotaExceeded,
                                             .limit = 5,
                                             .remaining = left,
                                             .retry_after = 30s,
                                             .reset_after = 30s},
                                .charged = true};
    };
  }
  static RlsDescriptorText Entry(const std::string& key, bool negative = false) {
    return {.entries = {{key, "x"}}, .hits = 1, .negative = negative};
  }

  support::ScriptedStore store_;
  std::atomic<int> nodes_{1};
  std::unique_ptr<service::Fallback> fallback_;
};

TEST_F(EnvoyFallbackTest, EachLimitsPolicyDecidesWithoutTheStore) {
  Open();
  GoAway();
  EXPECT_EQ(Ask({Entry("fail")}).failure, Failure::kStore);
  EXPECT_EQ(metrics_.Read(CallResult::kStoreError), 1U);
  EXPECT_FALSE(IsOver(Ask({Entry("allow")})));
  EXPECT_TRUE(IsOver(Ask({Entry("deny")})));
  EXPECT_EQ(Ask({Entry("allow"), Entry("fail")}).failure, Failure::kStore);
}

TEST_F(EnvoyFallbackTest, EveryCounterIsCountedLocallyForItself) {
  Open();
  GoAway();
  for (int i = 0; i < 5; ++i) {
    const Call& call = Ask({Entry("deny"), Entry("local")});
    EXPECT_TRUE(IsOver(call));  // By the other one.
    EXPECT_EQ(call.response.statuses[1].limit_remaining, 4U - i);
  }
  EXPECT_TRUE(IsOver(Ask({Entry("local")})));
}

TEST_F(EnvoyFallbackTest, ADenialStaysInForceWhileTheStoreIsAway) {
  Open();
  DenyAll();
  EXPECT_TRUE(IsOver(Ask({Entry("allow"), Entry("local")})));
  GoAway();
  const Call& call = Ask({Entry("allow"), Entry("local")});
  EXPECT_EQ(call.response.statuses[0].code, wire::RlsCode::kOverLimit);
  EXPECT_EQ(call.response.statuses[1].code, wire::RlsCode::kOverLimit);
  EXPECT_EQ(call.response.statuses[0].seconds_until_reset, 30);
  EXPECT_EQ(Ask({Entry("fail")}).failure, Failure::kStore);
}

TEST_F(EnvoyFallbackTest, AfterADenialThatWasCountedNoHitFits) {
  Open();
  DenyAll(2);
  (void)Ask({{.entries = {{"allow", "x"}}, .hits = 3}});
  EXPECT_EQ(metrics_.Read({"d", "allow"}, Count::kOverLimit), 1U);
  GoAway();
  (void)Ask({{.entries = {{"allow", "x"}}, .hits = 3}});
  EXPECT_EQ(metrics_.Read({"d", "allow"}, Count::kOverLimit), 4U);
}

TEST_F(EnvoyFallbackTest, HitsThatAreTakenBackEndWhatIsRemembered) {
  Open();
  DenyAll();
  (void)Ask({Entry("allow")});
  store_.script = support::ScriptedStore().script;
  (void)Ask({Entry("allow", true)});
  GoAway();
  EXPECT_FALSE(IsOver(Ask({Entry("allow")})));
  EXPECT_EQ(Ask({Entry("allow", true)}).failure, Failure::kStore);  // A refund needs the store.
}

TEST_F(EnvoyFallbackTest, AResetEndsWhatIsRememberedAndCountedLocally) {
  Open();
  DenyAll();
  (void)Ask({Entry("allow")});
  GoAway();
  EXPECT_TRUE(IsOver(Ask({{.entries = {{"local", "x"}}, .hits = 6}})));
  EXPECT_TRUE(IsOver(Ask({Entry("allow")})));
  store_.call_error = StoreError::kNone;
  service::NoCompletionOf<UsageCall> none;
  UsageCall reset(none);
  reset.request = &call_.own;
  reset.reset = true;
  call_.bytes = support::RlsRequestMessage("d", {Entry("allow"), Entry("local")});
  ASSERT_TRUE(call_.own.Read(call_.bytes));
  reset.Start(*service_);
  EXPECT_EQ(reset.failure, UsageCall::Failure::kNone);
  GoAway();
  const Call& call = Ask({Entry("allow"), Entry("local")});
  EXPECT_FALSE(IsOver(call));
  EXPECT_EQ(call.response.statuses[1].limit_remaining, 4U);
}

TEST_F(EnvoyFallbackTest, AUsageNeedsTheStore) {
  Open();
  GoAway();
  call_.bytes = support::RlsRequestMessage("d", {Entry("local")});
  ASSERT_TRUE(call_.own.Read(call_.bytes));
  service::NoCompletionOf<UsageCall> none;
  UsageCall usage(none);
  usage.request = &call_.own;
  usage.Start(*service_);
  EXPECT_EQ(usage.failure, UsageCall::Failure::kStore);
}

// All or nothing holds for what is left of a store: there is nothing like it in compatible mode.
TEST_F(EnvoyFallbackTest, OurOwnSemanticsTakeBackWhatADeniedRequestWasCharged) {
  for (const std::string lost : {"deny", "fail"}) {
    Open({.compatible = false});
    LoseOnly(lost);
    const Call& call = Ask({Entry("allow"), Entry(lost)});
    EXPECT_TRUE(IsOver(call) || call.failure == Failure::kStore);
    EXPECT_THAT(store_.verbs, ElementsAre("refund @envoy 1"));
    store_.verbs.clear();
  }
  Open();
  LoseOnly("deny");
  EXPECT_TRUE(IsOver(Ask({Entry("allow"), Entry("deny")})));
  EXPECT_THAT(store_.verbs, ElementsAre());
}

TEST_F(EnvoyFallbackTest, ALookThatIsNotAnsweredIsNotAskedAgain) {
  Open({.stop_counting_when_over = true});
  GoAway();
  EXPECT_FALSE(IsOver(Ask({Entry("allow")})));
  EXPECT_EQ(store_.batches, 1U);
  EXPECT_EQ(Ask({Entry("local")}).response.statuses[0].limit_remaining, 4U);
}

TEST_F(EnvoyFallbackTest, ALateStoreIsAskedStepByStep) {
  Open({.stop_counting_when_over = true});
  store_.late = true;
  call_.bytes = support::RlsRequestMessage("d", {Entry("allow", true)}, 0);
  ASSERT_TRUE(call_.own.Read(call_.bytes));
  call_.request = &call_.own;
  RateLimitCall* const one = &call_;
  service_->Decide({&one, 1}, *pin_);
  EXPECT_THAT(store_.verbs, ElementsAre("refund @envoy 1"));
  EXPECT_EQ(store_.waiting(), 1U);
  EXPECT_TRUE(store_.peeked);
  store_.AnswerLast();
  EXPECT_FALSE(store_.peeked);
  EXPECT_EQ(call_.decided, 0);
  store_.AnswerLast();
  EXPECT_EQ(call_.decided, 1);
}

}  // namespace
}  // namespace sluice::envoy
