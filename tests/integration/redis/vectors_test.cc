// The golden vectors, played to the scripts in a real Redis: one check alone, which has a script
// for each algorithm (lua/one.lua), and one of two, which goes by lua/request.lua.
//
// Redis counts in microseconds. So it is asked at whole ones only, and its waits are those of the
// vectors, rounded up to one.
#include <memory>
#include <string>
#include <tuple>

#include <gtest/gtest.h>

#include "support/redis_store_fixture.h"
#include "support/vector_replay.h"

namespace sluice::redis {
namespace {

using core::Algorithm;

// One server for all tests of a process.
support::RedisServer& VectorServer() {
  static support::RedisServer server;
  return server;
}

class RedisVectorsTest : public ::testing::TestWithParam<std::tuple<Algorithm, bool>> {};

TEST_P(RedisVectorsTest, AnswersAsWritten) {
  const auto [algorithm, in_company] = GetParam();
  VectorServer().Run({"FLUSHALL"});
  support::ManualClock clock;
  RedisSettings settings = support::PatientSettings(VectorServer());
  settings.channel.by_given_clock = true;
  support::LoopedRedisStore redis(settings, clock);
  redis.RunUntilUp();
  const auto all = support::ReadVectors(algorithm);
  int played = 0;
  for (const support::VectorCase& vectors : all) {
    if (vectors.clocks == 2 || !vectors.IsInWholeMicroseconds()) {
      continue;
    }
    support::SetClock(clock, vectors);
    support::PlayVectors(vectors,
                         {.store = redis.store(),
                          .clock = clock,
                          .pump = [&redis] { redis.RunUntilIdle(); },
                          .resolution = std::chrono::microseconds(1),
                          .in_company = in_company},
                         "u" + std::to_string(played));
    ++played;
  }
  // Many of them are written for it, too.
  EXPECT_GT(3 * played, static_cast<int>(all.size()));
}

// What no rule may name has no script.
INSTANTIATE_TEST_SUITE_P(Algorithms, RedisVectorsTest,
                         ::testing::Combine(::testing::ValuesIn(core::kRuleAlgorithms),
                                            ::testing::Bool()),
                         [](const auto& tested) {
                           return std::string(core::NameOf(std::get<0>(tested.param))) +
                                  (std::get<1>(tested.param) ? "_of_two" : "_alone");
                         });

}  // namespace
}  // namespace sluice::redis
