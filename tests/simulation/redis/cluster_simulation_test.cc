#include <array>
#include <cstdint>

#include <gtest/gtest.h>

#include "simulation/redis/cluster_world.h"
#include "support/soak.h"

namespace sluice::redis {
namespace {

std::uint64_t ClusterSeeds() {
  return 50 * support::SoakFactor();
}

TEST(ClusterSimulation, NothingIsAdmittedTwiceLostOrLateWhereverKeysGo) {
  std::array<int, 4> sent_away{};
  for (std::uint64_t seed = 0; seed < ClusterSeeds(); ++seed) {
    const ClusterWorld::Report report = ClusterWorld(seed, {}).Run();
    ASSERT_EQ(report.problem, "") << "seed " << seed;
    for (std::size_t i = 0; i < sent_away.size(); ++i) {
      sent_away[i] += report.sent_away[i];
    }
  }
  for (const int times : sent_away) {
    EXPECT_GT(times, 0) << "a rare branch was never reached";
  }
}

TEST(ClusterSimulation, ASeedIsAlwaysTheSameWorld) {
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    EXPECT_EQ(ClusterWorld(seed, {}).Run(), ClusterWorld(seed, {}).Run());
  }
}

// Slots move, primaries hand over and stall, and no connection ends: then nothing is left unknown.
// Every charge is somebody's answer, or was taken back.
TEST(ClusterSimulation, WithoutLossesTheServersHoldExactlyWhatWasAdmitted) {
  Units late = 0;
  Units undos = 0;
  for (std::uint64_t seed = 0; seed < ClusterSeeds(); ++seed) {
    const ClusterWorld::Report report = ClusterWorld(seed, {.cuts = false, .losses = false}).Run();
    ASSERT_EQ(report.problem, "") << "seed " << seed;
    late += report.late;
    undos += report.undos;
  }
  EXPECT_GT(late, 0) << "a rare branch was never reached";
  EXPECT_GT(undos, 0) << "a rare branch was never reached";
}

// A primary that says nothing more keeps its connections. Whoever took its place is found without
// waiting for those to end, also by a node that asks it three times a second only.
TEST(ClusterSimulation, TheSuccessorOfASilentPrimaryIsFoundSoon) {
  for (std::uint64_t seed = 0; seed < ClusterSeeds() / 5; ++seed) {
    const ClusterWorld::Report report = ClusterWorld(seed, {.only_a_hang = true}).Run();
    ASSERT_EQ(report.problem, "") << "seed " << seed;
  }
}

// Channels that send again what may have run are found out.
TEST(ClusterSimulation, APlantedFaultIsFound) {
  std::uint64_t seed = 0;
  for (; seed < 200; ++seed) {
    ClusterWorld world(seed, {});
    world.PlantForTest();
    if (!world.Run().problem.empty()) {
      break;
    }
  }
  EXPECT_LT(seed, 200U);
}

}  // namespace
}  // namespace sluice::redis
