#include <cstdint>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include "simulation/lease/fleet.h"
#include "support/soak.h"

namespace sluice::lease {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

std::uint64_t Seeds() {
  return 20 * support::SoakFactor();
}

core::Quota QuotaOf(core::Algorithm algorithm, Units limit, Duration window) {
  core::Quota quota;
  quota.algorithm = algorithm;
  quota.limit = limit;
  quota.rate = core::IsBucket(algorithm) ? limit : 0;
  quota.window = window;
  return quota;
}

// Anything may go wrong, at any time.
Fleet::Plan DrawPlan(std::uint64_t seed, core::Algorithm algorithm) {
  std::mt19937_64 random(seed);
  const auto draw = [&random](int from, int to) {
    return from + static_cast<int>(random() % static_cast<std::uint64_t>(to - from + 1));
  };
  Fleet::Plan plan;
  plan.nodes = draw(1, 6);
  plan.quota = QuotaOf(algorithm, draw(10, 1500), milliseconds(draw(10, 30) * 100));
  plan.offered = draw(2, 30) / 10.0;
  plan.hot = draw(0, 2) == 0 ? draw(0, 10) / 10.0 : 0;
  plan.pauses_per_thousand = draw(0, 2) == 0 ? draw(0, 60) : 0;
  plan.restarts_per_thousand = draw(0, 2) == 0 ? draw(0, 20) : 0;
  plan.with_others = draw(0, 1) == 0;
  plan.largest_cost = draw(0, 2) == 0 ? draw(1, 8) : 1;
  plan.faults = {.lost_per_thousand = draw(0, 2) == 0 ? draw(0, 100) : 0,
                 .unheard_per_thousand = draw(0, 2) == 0 ? draw(0, 100) : 0,
                 .doubled_per_thousand = draw(0, 1) == 0 ? draw(0, 300) : 0,
                 .slow_per_thousand = draw(0, 1) == 0 ? draw(0, 300) : 0,
                 .slow_settlements = draw(0, 2) == 0,
                 .longest = milliseconds(draw(2, 4000)),
                 .times_out = draw(0, 2) != 0};
  return plan;
}

TEST(LeaseSimulation, NoWindowAdmitsMoreThanItsLimitWhateverGoesWrong) {
  std::uint64_t saved = 0;
  std::uint64_t given_back = 0;
  for (std::uint64_t seed = 1; seed <= Seeds(); ++seed) {
    const Fleet::Plan plan = DrawPlan(seed, core::Algorithm::kFixedWindow);
    const Fleet::Report report = Fleet(seed, plan).Run();
    ASSERT_EQ(report.problem, "") << "seed " << seed;
    saved += report.calls < report.decisions ? 1 : 0;
    given_back += report.given_back;
  }
  EXPECT_GT(given_back, 0U);
  EXPECT_GT(saved, Seeds() / 4);  // Else nothing was borrowed, and nothing shown.
}

// Every node may hold its part of an eighth of the burst, and as much may be on its way back.
TEST(LeaseSimulation, ABucketAdmitsNoMoreThanIsLentAboveItsPromise) {
  for (std::uint64_t seed = 1; seed <= Seeds(); ++seed) {
    const Fleet::Plan plan = DrawPlan(seed, core::Algorithm::kTokenBucket);
    const Fleet::Report report = Fleet(seed, plan).Run();
    ASSERT_EQ(report.problem, "") << "seed " << seed;
    EXPECT_LE(report.most_over, plan.quota.limit / 4 + plan.nodes) << "seed " << seed;
  }
}

// With numbers that make sense; what these algorithms admit has no plain oracle.
TEST(LeaseSimulation, SlidingWindowsAnswerEverybody) {
  for (std::uint64_t seed = 1; seed <= Seeds(); ++seed) {
    const Fleet::Plan plan = DrawPlan(seed, seed % 2 == 0 ? core::Algorithm::kSlidingWindow
                                                          : core::Algorithm::kSlidingWindowCounter);
    ASSERT_EQ(Fleet(seed, plan).Run().problem, "") << "seed " << seed;
  }
}

struct Regime {
  Units limit;
  int nodes;
  double offered;
  double hot;
  double least_decisions_per_call;
  double most_loss;  // Of what one exact store would have admitted.
};

TEST(LeaseSimulation, LosesLittleAndAsksSeldomWhereNothingGoesWrong) {
  const Regime regimes[] = {
      {10'000, 5, 0.5, 0, 100, 0.001}, {10'000, 5, 1, 0, 60, 0.01},   {10'000, 5, 3, 0, 60, 0.001},
      {10'000, 50, 0.5, 0, 15, 0.002}, {10'000, 50, 1, 0, 10, 0.015}, {10'000, 50, 3, 0, 15, 0.002},
      {10'000, 50, 1, 0.5, 10, 0.03},  {1'000, 2, 1, 0, 15, 0.02},    {1'000, 2, 3, 0, 20, 0.005},
  };
  for (const Regime& regime : regimes) {
    Fleet::Plan plan;
    plan.nodes = regime.nodes;
    plan.quota = QuotaOf(core::Algorithm::kFixedWindow, regime.limit, seconds(60));
    plan.offered = regime.offered;
    plan.hot = regime.hot;
    const Fleet::Report report = Fleet(7, plan).Run();
    const double calls = static_cast<double>(report.calls);
    const double per_call = static_cast<double>(report.decisions) / calls;
    const double loss =
        1 - static_cast<double>(report.admitted) / static_cast<double>(report.possible);
    const std::string name = std::to_string(regime.limit) + " a minute, " +
                             std::to_string(regime.nodes) + " nodes, " +
                             std::to_string(regime.offered) + " offered";
    EXPECT_EQ(report.problem, "") << name;
    EXPECT_GE(per_call, regime.least_decisions_per_call) << name;
    EXPECT_LE(loss, regime.most_loss) << name;
  }
}

// The checkers must bite.
TEST(LeaseSimulation, FindsAGrantThatEndsTooLate) {
  int found = 0;
  for (std::uint64_t seed = 1; seed <= 40 && found == 0; ++seed) {
    Fleet::Plan plan = DrawPlan(seed, core::Algorithm::kFixedWindow);
    plan.offered = 3;
    plan.faults.ends_late = true;
    found += Fleet(seed, plan).Run().problem.empty() ? 0 : 1;
  }
  EXPECT_GT(found, 0);
}

TEST(LeaseSimulation, FindsUnitsOfOneWindowThatComeBackInTheNext) {
  int found = 0;
  for (std::uint64_t seed = 1; seed <= 40 && found == 0; ++seed) {
    Fleet::Plan plan = DrawPlan(seed, core::Algorithm::kFixedWindow);
    plan.nodes = 4;
    plan.offered = 3;
    plan.windows = 8;
    plan.pauses_per_thousand = 15;
    plan.faults = {
        .slow_settlements = true, .longest = plan.quota.window, .gives_back_blindly = true};
    found += Fleet(seed, plan).Run().problem.empty() ? 0 : 1;
  }
  EXPECT_GT(found, 0);
}

}  // namespace
}  // namespace sluice::lease
