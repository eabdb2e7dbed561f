#include <algorithm>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "replay/demand.h"

namespace sluice::replay {
namespace {

constexpr Duration kMinute = std::chrono::minutes(1);

WallInstant Moment(std::int64_t ms) {
  return WallInstant(std::chrono::milliseconds(1'700'000'000'000 + ms));
}

struct Arrival {
  std::int64_t ms;
  Units units;
};

// By looking at every window that ends with a request.
Units PeakBySearch(const std::vector<Arrival>& requests, std::int64_t window_ms) {
  Units most = 0;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    Units sum = 0;
    for (std::size_t k = 0; k <= i; ++k) {
      sum += requests[k].ms > requests[i].ms - window_ms ? requests[k].units : 0;
    }
    most = std::max(most, sum);
  }
  return most;
}

std::vector<Arrival> Arrivals(unsigned seed, std::int64_t grain_ms) {
  std::mt19937 random(seed);
  std::vector<Arrival> requests;
  std::int64_t now = 0;
  for (int i = 0; i < 600; ++i) {
    now += static_cast<std::int64_t>(random() % (random() % 20 == 0 ? 90'000 : 900));
    requests.push_back({now / grain_ms * grain_ms, 1 + static_cast<Units>(random() % 3)});
  }
  return requests;
}

TEST(PeakWindowTest, IsExactForStampsOfSeconds) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    const auto requests = Arrivals(seed, 1'000);
    PeakWindow window;
    for (const Arrival& request : requests) {
      window.Add(Moment(request.ms), request.units, kMinute);
    }
    EXPECT_EQ(window.peak(), PeakBySearch(requests, 60'000)) << seed;
  }
}

TEST(PeakWindowTest, IsThatOfAWindowA64thLongerAtMost) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    const auto requests = Arrivals(seed, 1);
    PeakWindow window;
    for (const Arrival& request : requests) {
      window.Add(Moment(request.ms), request.units, kMinute);
    }
    EXPECT_GE(window.peak(), PeakBySearch(requests, 60'000)) << seed;
    EXPECT_LE(window.peak(), PeakBySearch(requests, 60'000 + 938)) << seed;
  }
}

TEST(PeakWindowTest, ARequestLeavesExactlyAWindowLater) {
  PeakWindow window;
  window.Add(Moment(0), 1, kMinute);
  window.Add(Moment(60'000), 1, kMinute);
  EXPECT_EQ(window.peak(), 1);
  window.Add(Moment(119'999), 1, kMinute);
  EXPECT_EQ(window.peak(), 2);
}

}  // namespace
}  // namespace sluice::replay
