// The golden vectors, played to two tiers over a table, where their answers are those of one store:
// - Where each unit is asked for, because shares are small, whatever is asked.
// - Of a window of which this node alone takes one unit at a time, by what it holds.
#include <algorithm>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "support/vector_replay.h"
#include "unit/lease/lease_world.h"

namespace sluice::lease {
namespace {

using core::Algorithm;
using support::VectorCase;
using support::VectorStep;

// Of every quota of the case a node's share is so small that nothing is borrowed: less than ten
// units of a window, or an eighth that is less than four.
bool IsAskedForEachUnit(const VectorCase& vectors) {
  return std::ranges::all_of(vectors.steps, [](const VectorStep& step) {
    const Units small = core::TraitsOf(step.quota.algorithm).is_aligned() ? 10 : 32;
    return step.quota.unlimited || !core::CanBeLent(step.quota) || step.quota.limit < small;
  });
}

// Units of a window go one by one, so that what is held is always enough or nothing.
bool IsTakenOneByOne(const VectorCase& vectors) {
  return core::TraitsOf(vectors.algorithm).is_aligned() &&
         std::ranges::all_of(vectors.steps, [](const VectorStep& step) {
           return step.verb == VectorStep::Verb::kCheck && step.units == 1;
         });
}

std::unique_ptr<store::Table> SmallTable(const base::Clock& clock) {
  auto table =
      store::Table::Create({.path = {}, .keys = 64, .blocks = 64, .huge_pages = false}, clock);
  return *std::move(table);
}

class LeaseVectorsTest : public ::testing::TestWithParam<Algorithm> {
 protected:
  // Plays it to a node of its own. How many checks it decided by what it held.
  static std::uint64_t Play(const VectorCase& vectors, core::Sync sync) {
    support::ManualClock clock;
    support::SetClock(clock, vectors);
    const auto shared = SmallTable(clock);
    const auto local = SmallTable(clock);
    const std::atomic<int> nodes{1};
    LeaseStore store(*shared, *local, nodes, clock, {.keys = 64});
    const auto book = store.Attach(nullptr);
    support::PlayVectors(vectors, {.store = store, .clock = clock, .sync = sync}, "u");
    return store.metrics().Read(LeaseCount::kAllowedHere);
  }
};

TEST_P(LeaseVectorsTest, AnswersAsWritten) {
  int asked_for_each = 0;
  std::uint64_t decided_by_held = 0;
  for (const VectorCase& vectors : support::ReadVectors(GetParam())) {
    if (vectors.clocks == 1) {
      continue;
    }
    if (IsAskedForEachUnit(vectors)) {
      EXPECT_EQ(Play(vectors, core::Sync::kLease), 0U) << vectors.name;
      ++asked_for_each;
    } else if (IsTakenOneByOne(vectors)) {
      decided_by_held += Play(vectors, core::Sync::kLease);
    }
  }
  EXPECT_GT(asked_for_each, 5);
  EXPECT_EQ(decided_by_held > 0, core::TraitsOf(GetParam()).is_aligned());
}

TEST_P(LeaseVectorsTest, TheNodesOwnTableAnswersAsWritten) {
  if (core::HasHolds(GetParam())) {
    return;  // Its holds are given back to the shared store, whatever the rule says.
  }
  for (const VectorCase& vectors : support::ReadVectors(GetParam())) {
    if (vectors.clocks != 1) {
      (void)Play(vectors, core::Sync::kLocal);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Algorithms, LeaseVectorsTest, ::testing::ValuesIn(core::kRuleAlgorithms),
                         [](const auto& tested) {
                           return std::string(core::NameOf(tested.param));
                         });

}  // namespace
}  // namespace sluice::lease
