#include "load_metrics.h"

#include <chrono>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "net/event_loop.h"

namespace sluice::app {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string TextOf(const LoadMetrics& metrics) {
  std::string text;
  telemetry::PrometheusText out(text);
  metrics.Write(out);
  return text;
}

// What follows `name` in the text.
double ValueOf(const LoadMetrics& metrics, const std::string& name) {
  const std::string text = "\n" + TextOf(metrics);
  const std::size_t at = text.find("\n" + name + " ");
  return at == std::string::npos ? -1 : std::stod(text.substr(at + name.size() + 2));
}

TEST(LoadMetricsTest, CountsTheRequestsOfAllLoopsAsLastSeen) {
  const net::ConnectionLimit limit(1);
  LoadMetrics metrics(limit, nullptr);
  net::EventLoop one;
  net::EventLoop two;
  std::size_t in_one = 7;
  LoopWatch watch_one(one, metrics, [&in_one] { return in_one; });
  LoopWatch watch_two(two, metrics, [] { return std::size_t{4}; });
  watch_one.Start();
  watch_two.Start();
  const auto look = [&](net::EventLoop& loop, double looks) {
    while (ValueOf(metrics, "sluice_loop_lag_seconds_count") < looks) {
      (void)loop.RunOne();
    }
    return ValueOf(metrics, "sluice_requests_in_flight");
  };
  EXPECT_EQ(look(one, 1), 7);
  EXPECT_EQ(look(two, 2), 11);
  in_one = 1;
  EXPECT_EQ(look(one, 3), 5);
}

TEST(LoadMetricsTest, ALoopThatWorksOnIsLate) {
  const net::ConnectionLimit limit(1);
  LoadMetrics metrics(limit, nullptr);
  net::EventLoop loop;
  LoopWatch watch(loop, metrics, [] { return std::size_t{0}; });
  watch.Start();
  const auto until =
      std::chrono::steady_clock::now() + LoopWatch::kEvery + std::chrono::milliseconds(51);
  loop.Post([until] {
    while (std::chrono::steady_clock::now() < until) {
    }
  });
  while (ValueOf(metrics, "sluice_loop_lag_seconds_count") < 1) {
    (void)loop.RunOne();
  }
  EXPECT_GE(ValueOf(metrics, "sluice_loop_lag_seconds_sum"), 0.049);
  EXPECT_EQ(ValueOf(metrics, "sluice_loop_lag_seconds_bucket{le=\"0.02\"}"), 0);
}

TEST(LoadMetricsTest, CountsWhatIsRefusedByItsReason) {
  net::ConnectionLimit limit(2, 1);
  const auto take = [&limit](const char* address) {
    return limit.Take(boost::asio::ip::make_address(address));
  };
  const auto first = take("192.0.2.1");
  EXPECT_FALSE(take("192.0.2.1"));
  const auto second = take("192.0.2.2");
  EXPECT_FALSE(take("192.0.2.3"));
  EXPECT_FALSE(take("192.0.2.4"));
  EXPECT_THAT(TextOf(LoadMetrics(limit, nullptr)),
              AllOf(HasSubstr("sluice_shed_total{reason=\"connections\"} 2\n"),
                    HasSubstr("sluice_shed_total{reason=\"connections_per_peer\"} 1\n"),
                    Not(HasSubstr("reason=\"store_"))));
  redis::RedisMetrics redis;
  redis.Count(redis::RedisCount::kQueueFull, 3);
  redis.Count(redis::RedisCount::kTimedOut, 4);
  EXPECT_THAT(TextOf(LoadMetrics(limit, &redis)),
              AllOf(HasSubstr("sluice_shed_total{reason=\"store_queue\"} 3\n"),
                    HasSubstr("sluice_shed_total{reason=\"store_deadline\"} 4\n")));
}

}  // namespace
}  // namespace sluice::app
