#include "insight/sample_ring.h"

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace sluice::insight {
namespace {

TEST(SampleRingTest, GivesBackWhatWasWritten) {
  const auto ring = std::make_unique<SampleRing>();
  ASSERT_TRUE(ring->Write({.rule = "r",
                           .key = "key",
                           .kind = Kind::kBanned,
                           .of_denied_request = true,
                           .weight = 8,
                           .at = WallInstant(Duration(5))}));
  ASSERT_TRUE(ring->Write({.rule = std::string(300, 'r'), .key = "", .newly_denied = true}));
  std::vector<std::string> rules;
  ring->Read([&rules](const KeySample& sample) {
    if (rules.empty()) {
      EXPECT_EQ(sample.key, "key");
      EXPECT_EQ(sample.kind, Kind::kBanned);
      EXPECT_TRUE(sample.of_denied_request);
      EXPECT_FALSE(sample.newly_denied);
      EXPECT_EQ(sample.weight, 8U);
      EXPECT_EQ(sample.at, WallInstant(Duration(5)));
    } else {
      EXPECT_TRUE(sample.newly_denied);
    }
    rules.emplace_back(sample.rule);
  });
  EXPECT_EQ(rules, (std::vector<std::string>{"r", std::string(255, 'r')}));
  ring->Read([](const KeySample& /*sample*/) { ADD_FAILURE() << "nothing is left"; });
}

TEST(SampleRingTest, RefusesWhatDoesNotFitAndKeepsWhatItHas) {
  const auto ring = std::make_unique<SampleRing>();
  const std::string key(500, 'k');
  std::size_t written = 0;
  while (ring->Write({.rule = "rule", .key = key})) {
    ++written;
  }
  EXPECT_GE(written * 540, SampleRing::kBytes - 540);
  EXPECT_GE(ring->waiting(), SampleRing::kBytes - 540);
  std::size_t read = 0;
  ring->Read([&](const KeySample& sample) {
    EXPECT_EQ(sample.key, key);
    ++read;
  });
  EXPECT_EQ(read, written);
  EXPECT_EQ(ring->waiting(), 0U);
  EXPECT_TRUE(ring->Write({.rule = "rule", .key = key}));
}

// Keys of many lengths, so that entries meet the end of the ring in every way.
TEST(SampleRingTest, KeepsTheOrderBetweenTwoThreads) {
  const auto ring = std::make_unique<SampleRing>();
  constexpr std::uint32_t kSamples = 200'000;
  std::thread writer([&ring] {
    const std::string key(400, 'k');
    for (std::uint32_t i = 1; i <= kSamples; ++i) {
      while (!ring->Write(
          {.rule = "r", .key = std::string_view(key).substr(0, i % 400), .weight = i})) {
        std::this_thread::yield();
      }
    }
  });
  std::uint32_t last = 0;
  while (last != kSamples) {
    ring->Read([&last](const KeySample& sample) {
      ASSERT_EQ(sample.weight, last + 1);
      ASSERT_EQ(sample.key.size(), sample.weight % 400);
      last = sample.weight;
    });
    std::this_thread::yield();
  }
  writer.join();
}

}  // namespace
}  // namespace sluice::insight
