#include "redis/redis_metrics.h"

#include <cstddef>

#include <gtest/gtest.h>

namespace sluice::redis {
namespace {

TEST(RedisMetricsTest, EachCountIsItsOwn) {
  RedisMetrics metrics;
  for (std::size_t i = 0; i < kRedisCounts; ++i) {
    metrics.Count(static_cast<RedisCount>(i), i + 1);
  }
  for (std::size_t i = 0; i < kRedisCounts; ++i) {
    EXPECT_EQ(metrics.Read(static_cast<RedisCount>(i)), i + 1) << i;
  }
}

}  // namespace
}  // namespace sluice::redis
