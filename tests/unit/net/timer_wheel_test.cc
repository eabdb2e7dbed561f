#include "net/timer_wheel.h"

#include <memory>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace sluice::net {
namespace {

using std::chrono::hours;
using std::chrono::microseconds;
using std::chrono::milliseconds;

constexpr SteadyTime kStart{hours(1000)};

TEST(TimerWheelTest, FiresOnceAndNeverEarly) {
  TimerWheel wheel(kStart);
  int fired = 0;
  Timer timer([&] { ++fired; });
  wheel.Arm(timer, kStart + microseconds(2500), TimerPrecision::kExact);
  EXPECT_TRUE(timer.armed());
  wheel.Advance(kStart + microseconds(2999));
  EXPECT_EQ(fired, 0);
  wheel.Advance(kStart + milliseconds(3));
  EXPECT_EQ(fired, 1);
  EXPECT_FALSE(timer.armed());
  wheel.Advance(kStart + hours(1));
  EXPECT_EQ(fired, 1);
}

TEST(TimerWheelTest, GathersCoarseTimersUpTo64MillisecondsLate) {
  TimerWheel wheel(kStart);
  int fired = 0;
  Timer a([&] { ++fired; });
  Timer b([&] { ++fired; });
  wheel.Arm(a, kStart + milliseconds(65), TimerPrecision::kCoarse);
  wheel.Arm(b, kStart + milliseconds(128), TimerPrecision::kCoarse);
  wheel.Advance(kStart + milliseconds(127));
  EXPECT_EQ(fired, 0);
  wheel.Advance(kStart + milliseconds(128));
  EXPECT_EQ(fired, 2);
}

TEST(TimerWheelTest, ArmingAgainReplacesAndDestroyingDisarms) {
  TimerWheel wheel(kStart);
  int fired = 0;
  Timer timer([&] { ++fired; });
  wheel.Arm(timer, kStart + milliseconds(5), TimerPrecision::kExact);
  wheel.Arm(timer, kStart + milliseconds(50), TimerPrecision::kExact);
  {
    Timer gone([&] { ++fired; });
    wheel.Arm(gone, kStart + milliseconds(5), TimerPrecision::kExact);
    EXPECT_EQ(wheel.size(), 2U);
  }
  EXPECT_EQ(wheel.size(), 1U);
  wheel.Advance(kStart + milliseconds(49));
  EXPECT_EQ(fired, 0);
  wheel.Advance(kStart + milliseconds(50));
  EXPECT_EQ(fired, 1);
  EXPECT_FALSE(wheel.NextWake().has_value());
}

TEST(TimerWheelTest, ActionsMayArmCancelAndDestroyTimers) {
  TimerWheel wheel(kStart);
  int fired = 0;
  Timer again([&] { ++fired; });
  Timer cancelled([&] { FAIL(); });
  auto gone = std::make_unique<Timer>([&] { FAIL(); });
  std::unique_ptr<Timer> own;
  own = std::make_unique<Timer>([&] {
    ++fired;
    cancelled.Cancel();
    gone.reset();
    wheel.Arm(again, kStart, TimerPrecision::kExact);
    own.reset();
  });
  wheel.Arm(cancelled, kStart + milliseconds(7), TimerPrecision::kExact);
  wheel.Arm(*gone, kStart + milliseconds(7), TimerPrecision::kExact);
  wheel.Arm(*own, kStart + milliseconds(7), TimerPrecision::kExact);  // Armed last, runs first.
  wheel.Advance(kStart + milliseconds(7));
  EXPECT_EQ(fired, 1);
  EXPECT_EQ(own, nullptr);
  EXPECT_TRUE(again.armed());
  wheel.Advance(kStart + milliseconds(8));
  EXPECT_EQ(fired, 2);
}

TEST(TimerWheelTest, ReachesFurtherThanItsTopLevel) {
  TimerWheel wheel(kStart);
  int fired = 0;
  Timer timer([&] { ++fired; });
  const SteadyTime when = kStart + hours(24 * 40);
  wheel.Arm(timer, when, TimerPrecision::kExact);
  wheel.Advance(when - milliseconds(1));
  EXPECT_EQ(fired, 0);
  wheel.Advance(when);
  EXPECT_EQ(fired, 1);
}

TEST(TimerWheelTest, IgnoresATimeThatStepsBack) {
  TimerWheel wheel(kStart);
  int fired = 0;
  Timer timer([&] { ++fired; });
  wheel.Advance(kStart + milliseconds(100));
  wheel.Advance(kStart - milliseconds(100));
  wheel.Arm(timer, kStart + milliseconds(50), TimerPrecision::kExact);
  wheel.Advance(kStart + milliseconds(100));
  EXPECT_EQ(fired, 0);
  wheel.Advance(kStart + milliseconds(101));
  EXPECT_EQ(fired, 1);
}

// The plain twin: each timer fires in the first Advance() whose time has reached its tick,
// and NextWake() never lies beyond the next one due.
TEST(TimerWheelTest, AgreesWithASortedListOverRandomSpans) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 200; ++round) {
    TimerWheel wheel(kStart);
    SteadyTime now = kStart;
    struct Entry {
      std::unique_ptr<Timer> timer;
      SteadyTime due;
      bool fired = false;
    };
    std::vector<std::unique_ptr<Entry>> entries;
    for (int step = 0; step < 100; ++step) {
      const auto span = std::int64_t{1} << (random() % 34);
      if (random() % 3 != 0) {
        auto entry = std::make_unique<Entry>();
        Entry* raw = entry.get();
        entry->due = now + milliseconds(1 + static_cast<std::int64_t>(random()) % span);
        if (entry->due <= now) {
          entry->due = now + milliseconds(1);
        }
        entry->timer = std::make_unique<Timer>([raw] { raw->fired = true; });
        wheel.Arm(*entry->timer, entry->due, TimerPrecision::kExact);
        entries.push_back(std::move(entry));
        continue;
      }
      if (const auto wake = wheel.NextWake(); wake && random() % 2 == 0) {
        now = std::max(now, *wake);
      } else {
        now += milliseconds(static_cast<std::int64_t>(random() % static_cast<unsigned long>(span)));
      }
      wheel.Advance(now);
      std::size_t open = 0;
      for (const auto& entry : entries) {
        ASSERT_EQ(entry->fired, entry->due <= now);
        open += entry->fired ? 0 : 1;
        if (!entry->fired) {
          ASSERT_LE(*wheel.NextWake(), entry->due);
        }
      }
      ASSERT_EQ(wheel.size(), open);
    }
  }
}

}  // namespace
}  // namespace sluice::net
