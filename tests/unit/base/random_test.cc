#include "base/random.h"

#include <array>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace sluice::base {
namespace {

// The reference implementation's first numbers from 1234567.
TEST(RandomTest, IsSplitMix64) {
  Random random(1234567);
  EXPECT_EQ(random.Next(), 6457827717110365317U);
  EXPECT_EQ(random.Next(), 3203168211198807973U);
  EXPECT_EQ(random.Next(), 9817491932198370423U);
}

TEST(RandomTest, DrawsBothEndsOfARangeAndNothingBeyond) {
  Random random(1);
  std::set<std::int64_t> drawn;
  for (int i = 0; i < 1000; ++i) {
    drawn.insert(random.Between(-2, 3));
  }
  EXPECT_EQ(drawn, (std::set<std::int64_t>{-2, -1, 0, 1, 2, 3}));
  EXPECT_EQ(random.Between(7, 7), 7);
  EXPECT_GE(random.Between(0, INT64_MAX), 0);
}

TEST(RandomTest, AFractionIsBelowOne) {
  Random random(1);
  double sum = 0;
  for (int i = 0; i < 10'000; ++i) {
    const double fraction = random.Fraction();
    ASSERT_GE(fraction, 0);
    ASSERT_LT(fraction, 1);
    sum += fraction;
  }
  EXPECT_NEAR(sum / 10'000, 0.5, 0.02);
}

TEST(RandomTest, NumbersDifferAcrossThreads) {
  constexpr int kThreads = 4;
  constexpr int kEach = 1000;
  std::mutex mutex;
  std::set<std::uint64_t> numbers;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      const std::lock_guard lock(mutex);
      for (int n = 0; n < kEach; ++n) {
        numbers.insert(UniqueNumber());
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(numbers.size(), static_cast<std::size_t>(kThreads * kEach));
  EXPECT_FALSE(numbers.contains(0));
}

TEST(RandomTest, SecretBytesFillAllOfASpan) {
  std::array<std::uint8_t, 1000> bytes{};
  FillWithSecretBytes(bytes);
  std::array<std::uint8_t, 1000> others{};
  FillWithSecretBytes(others);
  EXPECT_NE(bytes, others);
  EXPECT_NE(std::set(bytes.end() - 100, bytes.end()).size(), 1U);
  FillWithSecretBytes({});
}

}  // namespace
}  // namespace sluice::base
