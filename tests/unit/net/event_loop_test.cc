#include "net/event_loop.h"

#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sluice::net {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

TEST(EventLoopTest, RunsWhatOtherThreadsPostInOrderUntilStopped) {
  EventLoop loop;
  std::vector<int> seen;
  std::thread poster([&] {
    for (int i = 0; i < 100; ++i) {
      loop.Post([&seen, i] { seen.push_back(i); });
    }
    loop.Post([&loop] { loop.Stop(); });
  });
  loop.Run();
  poster.join();
  ASSERT_EQ(seen.size(), 100U);
  EXPECT_TRUE(std::is_sorted(seen.begin(), seen.end()));
}

TEST(EventLoopTest, AnEarlierTimerOvertakesALaterOneAndNoneIsEarly) {
  EventLoop loop;
  std::vector<int> order;
  const auto start = steady_clock::now();
  steady_clock::time_point fired;
  Timer far([&] { order.push_back(3); });
  Timer late([&] {
    order.push_back(2);
    loop.Stop();
  });
  Timer early([&] {
    order.push_back(1);
    fired = steady_clock::now();
  });
  loop.Arm(far, start + hours(1));
  loop.Arm(late, start + milliseconds(20), TimerPrecision::kExact);
  loop.Arm(early, start + milliseconds(5), TimerPrecision::kExact);
  loop.Run();
  EXPECT_THAT(order, testing::ElementsAre(1, 2));
  EXPECT_GE(fired, start + milliseconds(5));
}

TEST(EventLoopTest, ATimerPutOffStillFires) {
  EventLoop loop;
  int fired = 0;
  Timer timer([&] {
    ++fired;
    loop.Stop();
  });
  loop.ArmAfter(timer, milliseconds(2), TimerPrecision::kExact);
  const auto until = steady_clock::now() + milliseconds(15);
  loop.Arm(timer, until, TimerPrecision::kExact);
  loop.Run();
  EXPECT_EQ(fired, 1);
  EXPECT_GE(steady_clock::now(), until);
}

}  // namespace
}  // namespace sluice::net
