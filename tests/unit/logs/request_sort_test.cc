#include "logs/request_sort.h"

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace sluice::logs {
namespace {

struct Made {
  std::int64_t ms = 0;
  std::uint64_t line = 0;
  std::string value;  // "-" for none.
  friend bool operator==(const Made&, const Made&) = default;
};

std::vector<Made> Sorted(const std::vector<Made>& made, std::size_t memory_bytes) {
  RequestSort sort(1, memory_bytes);
  for (const Made& one : made) {
    EXPECT_TRUE(sort.Add(WallInstant(std::chrono::milliseconds(one.ms)), 7, one.line));
    sort.AddValue(one.value == "-" ? std::string_view() : std::string_view(one.value));
  }
  EXPECT_TRUE(sort.Finish());
  std::vector<Made> got;
  for (auto second = sort.Next(); second && *second != nullptr; second = sort.Next()) {
    const std::int64_t first = (*second)->entry(0).at.time_since_epoch() / std::chrono::seconds(1);
    for (std::size_t i = 0; i < (*second)->size(); ++i) {
      const SecondOfRequests::Entry& entry = (*second)->entry(i);
      EXPECT_EQ(entry.cost, 7);
      EXPECT_EQ(entry.at.time_since_epoch() / std::chrono::seconds(1), first);
      const std::string_view value = (*second)->Value(entry, 0);
      got.push_back({.ms = entry.at.time_since_epoch() / std::chrono::milliseconds(1),
                     .line = entry.line,
                     .value = value.data() == nullptr ? "-" : std::string(value)});
    }
  }
  return got;
}

TEST(RequestSortTest, SortsByTimeAndKeepsTheOrderOfOneTimeInMemoryAndOnDisk) {
  std::vector<Made> made;
  std::uint64_t draw = 1;
  for (std::uint64_t line = 1; line <= 3'000; ++line) {
    draw = (draw * 6'364'136'223'846'793'005U) + 1'442'695'040'888'963'407U;
    const auto ms = static_cast<std::int64_t>((draw >> 33U) % 20'000);
    made.push_back({.ms = ms / 10 * 10,
                    .line = line,
                    .value = draw % 3 == 0 ? "-" : std::string(draw % 40, 'v')});
  }
  std::vector<Made> right = made;
  std::ranges::stable_sort(right, {}, &Made::ms);
  EXPECT_EQ(Sorted(made, RequestSort::kMemoryBytes), right);
  EXPECT_EQ(Sorted(made, 10'000), right);  // Some twenty pieces.
}

TEST(RequestSortTest, NothingSortedIsNothing) {
  EXPECT_TRUE(Sorted({}, 100).empty());
}

}  // namespace
}  // namespace sluice::logs
