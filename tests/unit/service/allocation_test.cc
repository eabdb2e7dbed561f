#include <array>
#include <cstdlib>
#include <new>

#include <gtest/gtest.h>

#include "unit/service/service_fixture.h"

// Counts what this program allocates: the decision path is to allocate nothing once warm.
namespace {
thread_local std::size_t allocations = 0;
}  // namespace

// NOLINTBEGIN
void* operator new(std::size_t size) {
  ++allocations;
  if (void* const memory = std::malloc(size == 0 ? 1 : size)) {
    return memory;
  }
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}
// NOLINTEND

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

  const std::size_t before = allocations;
  for (int i = 0; i < 1'000; ++i) {
    service.Decide(batch);
  }
  EXPECT_EQ(allocations, before);
}

}  // namespace
}  // namespace sluice::service
