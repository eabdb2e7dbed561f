#include <cstdint>

#include <gtest/gtest.h>

#include "simulation/redis/world.h"
#include "support/soak.h"

namespace sluice::redis {
namespace {

std::uint64_t Seeds() {
  return 100 * support::SoakFactor();
}

TEST(ChannelSimulation, NothingIsAdmittedTwiceLostOrLateWhateverHappens) {
  for (std::uint64_t seed = 0; seed < Seeds(); ++seed) {
    const World::Report report = World(seed, {}).Run();
    ASSERT_EQ(report.problem, "") << "seed " << seed;
  }
}

// Without lost connections and lost writes nothing is left unknown: every charge is either
// somebody's answer or given back.
TEST(ChannelSimulation, AfterStallsTheServerHoldsExactlyWhatWasAdmitted) {
  Units late = 0;
  for (std::uint64_t seed = 0; seed < Seeds(); ++seed) {
    const World::Report report =
        World(seed, {.cuts = false, .promotions = false, .stalls = true}).Run();
    ASSERT_EQ(report.problem, "") << "seed " << seed;
    late += report.late;
  }
  EXPECT_GT(late, 0) << "the rare branch was never reached";
}

// A channel that sends again what may have run is found out.
TEST(ChannelSimulation, APlantedFaultIsFound) {
  std::uint64_t seed = 0;
  for (; seed < 200; ++seed) {
    World world(seed, {});
    world.PlantForTest();
    if (!world.Run().problem.empty()) {
      break;
    }
  }
  EXPECT_LT(seed, 200U);
}

}  // namespace
}  // namespace sluice::redis
