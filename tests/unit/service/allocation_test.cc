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

class QuietCall final : public DecideCall {
 public:
  void OnVerdict() noexcept override {}
};

TEST(AllocationTest, ADecisionAllocatesNothingOnceWarm) {
  QuietStore store;
  ServiceMetrics metrics;
  LimiterService service(store, metrics);
  service.SetRules(
      RulesOf("rules:\n" + RuleText("a") + RuleText("b", ", mode: shadow") + StrictText("strict")));
  const std::vector<Attribute> attributes{{.name = "user_id", .value = "a"},
                                          {.name = "ip", .value = "192.0.2.1"}};
  std::array<QuietCall, 2> calls;
  calls[0].attributes = attributes;
  calls[1].attributes = Attributes(attributes).first(1);  // Lacks its ip.
  const std::array<DecideCall*, 2> batch{&calls[0], &calls[1]};
  service.Decide(batch);
  service.Decide(batch);

  const std::int64_t before = support::AllocationsOfThisThread();
  for (int i = 0; i < 1'000; ++i) {
    service.Decide(batch);
  }
  EXPECT_EQ(support::AllocationsOfThisThread(), before);
}

class QuietThrottle final : public ThrottleCall {
 public:
  void OnDecided() noexcept override {}
};

TEST(AllocationTest, AThrottleAllocatesNothing) {
  QuietStore store;
  ServiceMetrics metrics;
  LimiterService service(store, metrics);
  QuietThrottle call;
  core::Quota quota;
  quota.algorithm = core::Algorithm::kThrottle;
  const std::array<ThrottleCall*, 1> batch{&call};
  const std::int64_t before = support::AllocationsOfThisThread();
  for (int i = 0; i < 1'000; ++i) {
    call.Ask("a key of a length that no small string holds", quota, Cost{});
    service.Throttle(batch);
  }
  EXPECT_EQ(support::AllocationsOfThisThread(), before);
}

}  // namespace
}  // namespace sluice::service
