#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/service/service_fixture.h"

namespace sluice::service {
namespace {

using ::testing::ElementsAre;

class OperatorTest : public ServiceTest {
 protected:
  KeyChange& Ask(KeyChange::Kind kind) {
    auto& change = call.operation.Ask<KeyChange>();
    change.kind = kind;
    change.attributes = attributes_;
    return change;
  }
  KeyChange& Reset() {
    KeyChange& reset = Ask(KeyChange::Kind::kReset);
    service.Submit(call.operation);
    return reset;
  }
  void Release() {
    call.operation.Ask<HoldChange>().holds.push_back(
        {.key = core::Key({.rule = "a", .formerly = {}, .parts = {}}), .hold = {.id = 7}});
    service.Submit(call.operation);
  }

  TestOperation call;

 private:
  const std::vector<Attribute> attributes_{{.name = "user_id", .value = "a"}};
};

std::string Slots(const std::string& id, const std::string& more = "") {
  return "  - {id: " + id +
         ", key_pattern: \"user:{user_id}\", algorithm: concurrency, limit: 2, hold_ttl: 1m" +
         more + "}\n";
}

TEST_F(OperatorTest, RefundsEveryRuleThatAppliesWhateverItCosts) {
  Load(RuleText("a") + RuleText("b", ", cost: 3") + RuleText("c", ", mode: \"off\""));
  KeyChange& refund = Ask(KeyChange::Kind::kRefund);
  refund.units = 5;
  service.Submit(call.operation);
  EXPECT_EQ(call.completed, 1);
  EXPECT_EQ(refund.touched, 2U);
  EXPECT_THAT(store.verbs, ElementsAre("refund a 5", "refund b 5"));
}

TEST_F(OperatorTest, ResetsEveryRuleThatApplies) {
  Load(RuleText("a") + RuleText("b", ", mode: shadow"));
  (void)Reset();
  EXPECT_EQ(call.completed, 1);
  EXPECT_THAT(store.verbs, ElementsAre("reset a", "reset b"));
}

TEST_F(OperatorTest, NeedsNoCostAttribute) {
  Load(RuleText("a", ", cost: tokens"));
  const KeyChange& reset = Reset();
  EXPECT_EQ(reset.request_error, "");
  EXPECT_THAT(store.verbs, ElementsAre("reset a"));
}

TEST_F(OperatorTest, IsDoneAtOnceWhereNothingApplies) {
  const KeyChange& reset = Reset();
  EXPECT_EQ(call.completed, 1);
  EXPECT_EQ(reset.touched, 0U);
}

TEST_F(OperatorTest, SaysWhatTheStoreDidNotDo) {
  Load(RuleText("a"));
  store.call_error = store::StoreError::kUnavailable;
  const KeyChange& reset = Reset();
  EXPECT_EQ(call.completed, 1);
  EXPECT_EQ(reset.touched, 0U);
  EXPECT_EQ(reset.error, store::StoreError::kUnavailable);
}

TEST_F(OperatorTest, ReleasesAHoldUnderTheNameThatTheRuleGoesByNow) {
  Load(Slots("a"));
  Release();
  Load(Slots("b", ", formerly: a"));
  Release();
  Load(Slots("c", ", formerly: b"));
  Release();
  EXPECT_EQ(call.completed, 3);
  EXPECT_THAT(store.verbs, ElementsAre("release a formerly  7", "release b formerly a 7",
                                       "release c formerly b,a 7"));
}

TEST_F(OperatorTest, ReleasesAHoldOfARuleThatIsGone) {
  Load(RuleText("other"));
  Release();
  EXPECT_EQ(call.completed, 1);
  EXPECT_THAT(store.verbs, ElementsAre("release a formerly  7"));
}

}  // namespace
}  // namespace sluice::service
