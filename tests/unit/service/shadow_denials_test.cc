#include "service/shadow_denials.h"

#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace sluice::service {
namespace {

void Count(ShadowDenials& denials, std::string_view rule, std::string_view user, int times = 1) {
  const core::KeyPart part{.attribute = "user_id", .value = user};
  for (int i = 0; i < times; ++i) {
    denials.Count(rule, {&part, 1}, true);
  }
}

TEST(ShadowDenialsTest, SaysWhoWouldHaveBeenDeniedAndHowOften) {
  ShadowDenials denials;
  Count(denials, "a", "u_1", 2);
  Count(denials, "b", "u_1", 1);
  Count(denials, "a", "u_2", 3);
  const auto keys = denials.Keys();
  ASSERT_EQ(keys.size(), 3U);
  EXPECT_EQ(keys[0].text, "user_id=u_2");
  EXPECT_EQ(keys[0].denied, 3U);
  EXPECT_EQ(keys[1].rule, "a");
  EXPECT_EQ(keys[2].rule, "b");
}

TEST(ShadowDenialsTest, AHeavyKeyStaysHoweverManyPassBy) {
  ShadowDenials denials;
  std::uint64_t counted = 0;
  for (int i = 0; i < 100'000; ++i) {
    Count(denials, "a", "passer-by " + std::to_string(i));
    ++counted;
    if (i % 100 == 0) {
      Count(denials, "a", "heavy", 50);
      counted += 50;
    }
  }
  const auto keys = denials.Keys();
  EXPECT_LE(keys.size(), ShadowDenials::kSets * ShadowDenials::kWays);
  ASSERT_FALSE(keys.empty());
  EXPECT_EQ(keys[0].text, "user_id=heavy");
  EXPECT_GE(keys[0].denied, 50'000U);  // Never too low,
  EXPECT_LE(keys[0].denied - keys[0].overcount, 50'000U);
  std::uint64_t sum = 0;
  for (const auto& key : keys) {
    sum += key.denied;
  }
  EXPECT_EQ(sum, counted);  // and none is counted twice.
}

TEST(ShadowDenialsTest, LongKeysAreCutAndStayApart) {
  ShadowDenials denials;
  const std::string stem(300, 'x');
  Count(denials, "a", stem + "1");
  Count(denials, "a", stem + "2");
  const auto keys = denials.Keys();
  ASSERT_EQ(keys.size(), 2U);
  EXPECT_EQ(keys[0].text.size(), ShadowDenials::kTextBytes);
}

TEST(ShadowDenialsTest, ThreadsLoseNothingButWhatIsSaidToBeMissed) {
  ShadowDenials denials;
  constexpr int kEach = 20'000;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&denials] {
      for (int i = 0; i < kEach; ++i) {
        Count(denials, "a", std::to_string(i % 5));
      }
    });
  }
  for (int i = 0; i < 20; ++i) {
    (void)denials.Keys();
  }
  for (auto& thread : threads) {
    thread.join();
  }
  std::uint64_t sum = denials.missed();
  for (const auto& key : denials.Keys()) {
    sum += key.denied;
  }
  EXPECT_EQ(sum, 4U * kEach);
}

}  // namespace
}  // namespace sluice::service
