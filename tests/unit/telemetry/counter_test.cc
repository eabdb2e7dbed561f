#include "telemetry/counter.h"

#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace sluice::telemetry {
namespace {

TEST(CounterTest, SumsWhatManyThreadsAdd) {
  Counter counter;
  std::vector<std::thread> threads;
  threads.reserve(kShards * 2);
  for (std::size_t i = 0; i < kShards * 2; ++i) {  // More threads than shards: some share.
    threads.emplace_back([&counter] {
      for (int n = 0; n < 1'000; ++n) {
        counter.Add();
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(counter.Read(), kShards * 2 * 1'000);
}

TEST(CounterTest, KeepsTheCountersOfAGroupApart) {
  CounterGroup group;
  group.Add(0);
  group.Add(7, 5);
  EXPECT_EQ(group.Read(0), 1U);
  EXPECT_EQ(group.Read(1), 0U);
  EXPECT_EQ(group.Read(7), 5U);
}

TEST(CounterTest, GivesAThreadOneShardForGood) {
  const std::size_t first = ThreadShard();
  EXPECT_EQ(ThreadShard(), first);
  EXPECT_LT(first, kShards);
}

}  // namespace
}  // namespace sluice::telemetry
