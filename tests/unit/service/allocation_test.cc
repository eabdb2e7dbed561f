#include <array>
#include <cstdint>

#include <gtest/gtest.h>

#include "support/counted_new.h"
#include "unit/service/service_fixture.h"

namespace sluice::service {
namespace {

// Answers without taking notes, which would allocate.
class QuietStore final : public support::ScriptedStore {
 public:
  void CheckMany(std::span<store::CheckCall* const> batch) override {
    for (store::CheckCall* const call : batch) {
      for (store::CheckAnswer& answer : call->answers) {
        answer = {.decision = {.allowed = true, .limit = 10, .remaining = 10}};
      }
      call->OnAnswered();
    }
  }
};

TEST(AllocationTest, ADecisionAllocatesNothingOnceWarm) {
  QuietStore store;
  ServiceMetrics metrics;
  LimiterService service(store, metrics);
  service.SetRules(
      RulesOf("rules:\n" + RuleText("a") + RuleText("b", ", mode: shadow") + StrictText("strict")));
  const std::vector<Attribute> attributes{{.name = "user_id", .value = "a"},
                                          {.name = "ip", .value = "192.0.2.1"}};
  NoCompletion none;
  Operation whole(none);
  Operation part(none);
  whole.Ask<RuleCheck>().attributes = attributes;
  part.Ask<RuleCheck>().attributes = Attributes(attributes).first(1);  // Lacks its ip.
  const std::array<Operation*, 2> batch{&whole, &part};
  service.Submit(batch);
  service.Submit(batch);

  const std::int64_t before = support::AllocationsOfThisThread();
  for (int i = 0; i < 1'000; ++i) {
    service.Submit(batch);
  }
  EXPECT_EQ(support::AllocationsOfThisThread(), before);
}

TEST(AllocationTest, AThrottleAllocatesNothing) {
  QuietStore store;
  ServiceMetrics metrics;
  LimiterService service(store, metrics);
  NoCompletion none;
  Operation operation(none);
  core::Quota quota;
  quota.algorithm = core::Algorithm::kThrottle;
  const std::array<Operation*, 1> batch{&operation};
  const std::int64_t before = support::AllocationsOfThisThread();
  for (int i = 0; i < 1'000; ++i) {
    operation.Ask<ThrottleCheck>().Set("a key of a length that no small string holds", quota,
                                       Cost{});
    service.Submit(batch);
  }
  EXPECT_EQ(support::AllocationsOfThisThread(), before);
}

}  // namespace
}  // namespace sluice::service
