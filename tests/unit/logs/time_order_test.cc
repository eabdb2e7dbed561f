#include "logs/time_order.h"

#include <algorithm>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace sluice::logs {
namespace {

constexpr std::int64_t kStart = 1'700'000'000'000;

WallInstant At(std::int64_t ms) {
  return WallInstant(std::chrono::milliseconds(kStart + ms));
}

// Feeds all stamps, in order of their coming, and gives them back in order of their going, as
// milliseconds, with how they came as the line number.
std::vector<std::int64_t> Ordered(TimeOrder& order, const std::vector<std::int64_t>& stamps) {
  std::vector<std::int64_t> out;
  std::uint64_t line_before = 0;
  WallInstant before{};
  const auto take = [&](const SecondOfRequests& second) {
    for (std::size_t i = 0; i < second.size(); ++i) {
      const auto& entry = second.entry(i);
      if (entry.at == before) {
        EXPECT_LT(line_before, entry.line);  // Of one time, as they came.
      }
      EXPECT_EQ(second.Value(entry, 0), std::to_string(entry.line));
      EXPECT_EQ(second.Value(entry, 1).data(), nullptr);
      before = entry.at;
      line_before = entry.line;
      out.push_back((entry.at.time_since_epoch().count() / 1'000'000) - kStart);
    }
  };
  std::uint64_t line = 0;
  for (const std::int64_t stamp : stamps) {
    WallInstant at = At(stamp);
    if (++line == 1) {
      order.StartAt(at);
    }
    if (!order.Fits(at)) {
      while (const SecondOfRequests* second = order.TakeBefore(at)) {
        take(*second);
      }
    }
    SecondOfRequests& second = order.PlaceFor(at);
    second.Add(at, 1, line);
    second.AddValue(std::to_string(line));
    second.AddValue({});
  }
  while (const SecondOfRequests* second = order.TakeAny()) {
    take(*second);
  }
  return out;
}

TEST(TimeOrderTest, PutsRightWhatIsWithinTheHorizon) {
  TimeOrder order(std::chrono::seconds(60));
  std::mt19937 random(7);
  std::vector<std::int64_t> stamps;
  for (int i = 0; i < 20'000; ++i) {
    // Accepted at i * 40 ms, logged in the order of completion up to 58 s later.
    stamps.push_back(i * 40);
  }
  std::vector<std::pair<std::int64_t, std::int64_t>> by_end;
  for (const std::int64_t stamp : stamps) {
    by_end.emplace_back(stamp + static_cast<std::int64_t>(random() % 58'000), stamp);
  }
  std::ranges::sort(by_end);
  std::vector<std::int64_t> came;
  for (const auto& [end, stamp] : by_end) {
    came.push_back(stamp);
  }
  EXPECT_EQ(Ordered(order, came), stamps);
  EXPECT_EQ(order.late(), 0U);
  EXPECT_GT(order.put_right(), std::chrono::seconds(30));
}

TEST(TimeOrderTest, WhatComesTooLateCountsAsIfItCameNow) {
  TimeOrder order(std::chrono::seconds(2));
  EXPECT_EQ(Ordered(order, {10'000, 20'000, 11'500, 20'100}),
            (std::vector<std::int64_t>{10'000, 18'000, 20'000, 20'100}));
  EXPECT_EQ(order.late(), 1U);
  EXPECT_EQ(order.latest(), std::chrono::milliseconds(8'500));
}

TEST(TimeOrderTest, WithoutAHorizonItKeepsTheOrderWithinASecondOnly) {
  TimeOrder order(std::chrono::seconds(0));
  EXPECT_EQ(Ordered(order, {500, 100, 1'200, 900, 1'300}),
            (std::vector<std::int64_t>{100, 500, 1'000, 1'200, 1'300}));
  EXPECT_EQ(order.late(), 1U);
}

TEST(TimeOrderTest, CrossesGapsOfYears) {
  TimeOrder order(std::chrono::seconds(120));
  const std::int64_t year = 365LL * 86'400'000;
  EXPECT_EQ(Ordered(order, {0, 2 * year, (2 * year) - 100, 5 * year}),
            (std::vector<std::int64_t>{0, (2 * year) - 100, 2 * year, 5 * year}));
}

}  // namespace
}  // namespace sluice::logs
