#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/service/service_fixture.h"

namespace sluice::service {
namespace {

using ::testing::ElementsAre;

class OperationTest : public ServiceTest {
 protected:
  OperationTest() { Load(RuleText("r")); }

  const std::vector<Attribute> user_{{.name = "user_id", .value = "a"}};
};

TEST_F(OperationTest, ABatchIsCarriedOutInItsOrderAndNeighbouringChecksTogether) {
  std::vector<std::size_t> resets_before;
  store.script = [&](const store::Check&) {
    resets_before.push_back(store.verbs.size());
    return store::CheckAnswer{.decision = {.allowed = true, .limit = 10, .remaining = 10}};
  };
  TestCheck first;
  TestCheck second;
  TestOperation reset;
  reset.operation.Ask<KeyChange>().attributes = user_;
  TestCheck third;
  const std::vector<Operation*> batch{&first.operation, &second.operation, &reset.operation,
                                      &third.operation};
  service.Submit(batch);
  EXPECT_THAT(resets_before, ElementsAre(0U, 0U, 1U));
  EXPECT_EQ(store.batches, 2U);
  EXPECT_EQ(store.largest_batch, 2U);
  EXPECT_EQ(first.answered + second.answered + third.answered, 3);
  EXPECT_EQ(reset.completed, 1);
}

TEST_F(OperationTest, AsksOneThingAfterAnotherWithoutWhatWasSetBefore) {
  TestOperation call;
  auto& check = call.operation.Ask<RuleCheck>();
  check.attributes = user_;
  check.only_rule = "nobody's";
  check.peek = true;
  service.Submit(call.operation);
  EXPECT_NE(check.verdict.request_error, "");

  auto& release = call.operation.Ask<HoldChange>();
  release.holds.push_back(
      {.key = core::Key({.rule = "r", .formerly = {}, .parts = {}}), .hold = {.id = 7}});
  service.Submit(call.operation);
  EXPECT_EQ(release.done, 1U);
  EXPECT_TRUE(call.operation.Ask<HoldChange>().holds.empty());

  EXPECT_EQ(&call.operation.Ask<RuleCheck>(), &check);
  check.attributes = user_;
  service.Submit(call.operation);
  EXPECT_EQ(check.verdict.request_error, "");
  EXPECT_FALSE(store.peeked);
  EXPECT_EQ(call.completed, 3);
}

TEST_F(OperationTest, EveryPartHasTheDeadline) {
  struct DeadlineStore final : support::ScriptedStore {
    void Reset(store::ResetCall& call) override {
      deadlines.push_back(call.deadline);
      ScriptedStore::Reset(call);
    }
    std::vector<Operation::Deadline> deadlines;
  } keeps;
  LimiterService limiter(keeps, metrics);
  limiter.SetRules(RulesOf("rules:\n" + RuleText("a") + RuleText("b")));
  TestOperation call;
  call.operation.Ask<KeyChange>().attributes = user_;
  call.operation.deadline = Operation::Deadline(std::chrono::hours(7));
  limiter.Submit(call.operation);
  EXPECT_THAT(keeps.deadlines, ElementsAre(call.operation.deadline, call.operation.deadline));
  call.operation.Clear();
  EXPECT_EQ(call.operation.deadline, Operation::Deadline::max());
}

TEST_F(OperationTest, IsCompleteOnceWhereThereIsNothingToDo) {
  TestOperation call;
  call.operation.Ask<Settlement>();
  service.Submit(call.operation);
  call.operation.Ask<HoldChange>();
  service.Submit(call.operation);
  EXPECT_EQ(call.completed, 2);
}

}  // namespace
}  // namespace sluice::service
