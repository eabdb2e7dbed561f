#include "insight/heavy_keys.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <map>
#include <string>
#include <tuple>

#include <gtest/gtest.h>

#include "insight/sampler.h"
#include "unit/insight/zipf.h"

namespace sluice::insight {
namespace {

HeavyKeys::Hit HitOf(const std::string& key, std::uint32_t weight = 1) {
  return {.key = key, .hash = std::hash<std::string>{}(key), .weight = weight};
}

using Exact = std::map<std::string, std::uint64_t>;

std::uint64_t CountOf(const Exact& exact, const std::string& key) {
  const auto at = exact.find(key);
  return at == exact.end() ? 0 : at->second;
}

// What the header promises, of every key.
void ExpectBounds(const Exact& exact, std::uint64_t total, const std::vector<HeavyKey>& found,
                  std::uint64_t bound) {
  std::map<std::string, const HeavyKey*> by_key;
  for (const HeavyKey& entry : found) {
    by_key[entry.key] = &entry;
    const std::uint64_t count = CountOf(exact, entry.key);
    EXPECT_GE(entry.count, count) << entry.key;
    EXPECT_LE(entry.count - entry.overcount, count) << entry.key;
    EXPECT_LE(entry.overcount, bound) << entry.key;
    EXPECT_LE(entry.AtLeast(), count) << entry.key;
    EXPECT_GE(entry.AtMost(), count) << entry.key;
  }
  std::uint64_t sum = 0;
  for (const auto& [key, count] : exact) {
    sum += count;
    EXPECT_TRUE(count <= bound || by_key.contains(key)) << key << " came " << count << " times";
  }
  EXPECT_EQ(total, sum);
}

TEST(HeavyKeysTest, CountsExactlyWhatFits) {
  HeavyKeys keys;
  EXPECT_TRUE(keys.Add(HitOf("a"), 2));
  EXPECT_FALSE(keys.Add(HitOf("a", 3), 2));
  EXPECT_TRUE(keys.Add(HitOf("b"), 2));
  EXPECT_EQ(keys.total(), 5U);
  EXPECT_EQ(keys.floor(), 0U);
  EXPECT_EQ(keys.entries()[0].count, 4U);
  EXPECT_EQ(keys.entries()[0].overcount, 0U);
  EXPECT_FALSE(keys.Add(HitOf("c"), 2));  // Takes b's entry.
  EXPECT_EQ(keys.size(), 2U);
  EXPECT_EQ(keys.entries()[1].key, "c");
  EXPECT_EQ(keys.entries()[1].count, 2U);
  EXPECT_EQ(keys.entries()[1].overcount, 1U);
  EXPECT_EQ(keys.floor(), 1U);
}

class ZipfTest : public testing::TestWithParam<std::tuple<double, std::uint64_t>> {
 protected:
  const double exponent_ = std::get<0>(GetParam());
  Zipf zipf_{20'000, exponent_, std::get<1>(GetParam())};
};
INSTANTIATE_TEST_SUITE_P(ExponentsAndSeeds, ZipfTest,
                         testing::Combine(testing::Values(0.6, 1.0, 1.4),
                                          testing::Values(1U, 2U, 3U)));

TEST_P(ZipfTest, HoldsItsBoundsAndHasTheTopFive) {
  constexpr std::size_t kRoom = 128;
  HeavyKeys keys;
  Exact exact;
  for (int i = 0; i < 100'000; ++i) {
    const std::string key = std::to_string(zipf_.Next());
    ++exact[key];
    keys.Add(HitOf(key), kRoom);
  }
  const auto found = HeavyKeys::Merge(keys, HeavyKeys());
  ASSERT_EQ(found.size(), kRoom);
  ExpectBounds(exact, keys.total(), found, keys.total() / kRoom);
  if (exponent_ >= 1) {
    for (std::size_t i = 0; i < 5; ++i) {
      EXPECT_EQ(found[i].key, std::to_string(i));
    }
  }
}

TEST_P(ZipfTest, HoldsItsBoundsThroughChangesOfTheRoomAndMerged) {
  HeavyKeys first;
  HeavyKeys second;
  Exact exact;
  for (int i = 0; i < 60'000; ++i) {
    const std::string key = std::to_string(zipf_.Next());
    ++exact[key];
    if (i == 20'000) {
      first.Shrink(32);
    }
    if (i < 40'000) {
      first.Add(HitOf(key), i < 20'000 ? 128 : i < 30'000 ? 32 : 64);
    } else {
      second.Add(HitOf(key), 128);
    }
  }
  EXPECT_LE(first.floor(), first.total() / 32);
  ExpectBounds(exact, first.total() + second.total(), HeavyKeys::Merge(first, second),
               first.total() / 32 + second.total() / 128);
}

// The clients of a real access log, the first word of each line, against exact counts.
TEST(HeavyKeysTest, HoldsItsBoundsOnARealLog) {
  const char* const path = std::getenv("SLUICE_REAL_LOG");
  if (path == nullptr) {
    GTEST_SKIP() << "no real log: name one with SLUICE_REAL_LOG=access.log";
  }
  std::ifstream log(path);
  constexpr std::size_t kRoom = 512;
  HeavyKeys keys;
  Exact exact;
  for (std::string line; std::getline(log, line);) {
    const std::string client = line.substr(0, line.find(' '));
    ++exact[client];
    keys.Add(HitOf(client), kRoom);
  }
  ASSERT_GT(keys.total(), 0U) << path << " has no line";
  const auto found = HeavyKeys::Merge(keys, HeavyKeys());
  ExpectBounds(exact, keys.total(), found, keys.total() / kRoom);
  std::uint64_t worst = 0;
  for (std::size_t i = 0; i < std::min<std::size_t>(10, found.size()); ++i) {
    worst = std::max(worst, found[i].count - exact[found[i].key]);
  }
  std::printf("%zu lines, %zu clients; of the ten heaviest no count is more than %zu too high\n",
              static_cast<std::size_t>(keys.total()), exact.size(),
              static_cast<std::size_t>(worst));
}

// A key that comes in the same place of each round, which a stride would always hit or always miss.
TEST_P(ZipfTest, SamplesEstimateWithoutBias) {
  constexpr std::uint32_t kStep = 32;
  Sampler sampler(std::get<1>(GetParam()) + 100);
  sampler.set_step(kStep);
  HeavyKeys keys;
  Exact exact;
  for (int i = 0; i < 400'000; ++i) {
    const std::string key =
        i % static_cast<int>(kStep) == 0 ? "steady" : std::to_string(zipf_.Next());
    ++exact[key];
    if (sampler.Picks()) {
      keys.Add(HitOf(key, sampler.weight()), 128);
      sampler.Draw(0);
    }
  }
  // Three standard deviations of each: the seeds are fixed, so this holds or does not.
  const double total = static_cast<double>(keys.total());
  EXPECT_NEAR(total, 400'000, 3 * std::sqrt(400'000.0 * (kStep - 1)));
  const auto found = HeavyKeys::Merge(keys, HeavyKeys());
  const auto steady = std::ranges::find(found, "steady", &HeavyKey::key);
  ASSERT_NE(steady, found.end());
  for (const HeavyKey& entry : {*steady, found[0], found[1]}) {
    const std::uint64_t count = exact[entry.key];
    EXPECT_LE(entry.AtLeast(), count) << entry.key;
    EXPECT_GE(entry.AtMost(), count) << entry.key;
    EXPECT_GT(entry.variance, 0) << entry.key;
  }
}

}  // namespace
}  // namespace sluice::insight
