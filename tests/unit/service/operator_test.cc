#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/service/service_fixture.h"

namespace sluice::service {
namespace {

using ::testing::ElementsAre;

class Operation final : public OperatorCall {
 public:
  void OnDone() noexcept override { ++done; }
  int done = 0;
};

class Giveback final : public HolderCall {
 public:
  void OnDone() noexcept override { ++done; }
  int done = 0;
};

class OperatorTest : public ServiceTest {
 protected:
  OperatorTest() { call.attributes = attributes_; }

  const std::vector<Attribute> attributes_{{.name = "user_id", .value = "a"}};
  Operation call;
};

std::string Slots(const std::string& id, const std::string& more = "") {
  return "  - {id: " + id +
         ", key_pattern: \"user:{user_id}\", algorithm: concurrency, limit: 2, hold_ttl: 1m" +
         more + "}\n";
}

TEST_F(OperatorTest, RefundsEveryRuleThatAppliesWhateverItCosts) {
  Load(RuleText("a") + RuleText("b", ", cost: 3") + RuleText("c", ", mode: \"off\""));
  call.units = 5;
  service.Refund(call);
  EXPECT_EQ(call.done, 1);
  EXPECT_EQ(call.touched, 2U);
  EXPECT_THAT(store.verbs, ElementsAre("refund a 5", "refund b 5"));
}

TEST_F(OperatorTest, ResetsEveryRuleThatApplies) {
  Load(RuleText("a") + RuleText("b", ", mode: shadow"));
  service.Reset(call);
  EXPECT_EQ(call.done, 1);
  EXPECT_THAT(store.verbs, ElementsAre("reset a", "reset b"));
}

TEST_F(OperatorTest, NeedsNoCostAttribute) {
  Load(RuleText("a", ", cost: tokens"));
  service.Reset(call);
  EXPECT_EQ(call.request_error, "");
  EXPECT_THAT(store.verbs, ElementsAre("reset a"));
}

TEST_F(OperatorTest, IsDoneAtOnceWhereNothingApplies) {
  service.Reset(call);
  EXPECT_EQ(call.done, 1);
  EXPECT_EQ(call.touched, 0U);
}

TEST_F(OperatorTest, SaysWhatTheStoreDidNotDo) {
  Load(RuleText("a"));
  store.call_error = store::StoreError::kUnavailable;
  service.Reset(call);
  EXPECT_EQ(call.done, 1);
  EXPECT_EQ(call.touched, 0U);
  EXPECT_EQ(call.error, store::StoreError::kUnavailable);
}

TEST_F(OperatorTest, ReleasesAHoldUnderTheNameThatTheRuleGoesByNow) {
  Giveback release;
  release.hold = 7;
  release.rule = "a";
  Load(Slots("a"));
  service.Release(release);
  Load(Slots("b", ", formerly: a"));
  service.Release(release);
  Load(Slots("c", ", formerly: b"));
  service.Release(release);
  EXPECT_EQ(release.done, 3);
  EXPECT_THAT(store.verbs, ElementsAre("release a formerly  7", "release b formerly a 7",
                                       "release c formerly b,a 7"));
}

TEST_F(OperatorTest, ReleasesAHoldOfARuleThatIsGone) {
  Giveback release;
  release.hold = 7;
  release.rule = "a";
  Load(RuleText("other"));
  service.Release(release);
  EXPECT_EQ(release.done, 1);
  EXPECT_THAT(store.verbs, ElementsAre("release a formerly  7"));
}

}  // namespace
}  // namespace sluice::service
