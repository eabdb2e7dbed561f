#include <array>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

#include "store/key_hash.h"
#include "store/table.h"
#include "store/table_layout.h"
#include "support/manual_clock.h"
#include "support/store_calls.h"

// Keys chosen so that they collide; how many blocks are in use.
namespace sluice::store {
namespace {

using core::Algorithm;
using support::Ask;
using support::OwnedKey;
using support::QuotaOf;

// Who knows a table's secret can choose keys that all lie in one corner of it. Against a table
// whose secret is another, which is every table that is not theirs, the same keys do no better
// than random ones: no key goes without a slot, with as many keys as the table is made for.
TEST(TableCollisionTest, KeysChosenToCollideDoNoBetterThanRandomOnes) {
  constexpr std::uint64_t kRoom = 2000;
  const support::ManualClock clock;
  const std::string path = "/dev/shm/sluice_collide_" + std::to_string(getpid());
  const auto open = [&](const std::string& where) {
    return std::move(*Table::Create(
        {.path = where, .keys = kRoom, .when_full = WhenFull::kDeny, .huge_pages = false}, clock));
  };
  std::filesystem::remove(path);
  const auto theirs = open(path);
  const auto header = std::make_unique<TableHeader>();
  std::ifstream(path, std::ios::binary)
      .read(reinterpret_cast<char*>(header.get()), sizeof(TableHeader));
  ASSERT_EQ(header->magic, kTableMagic);
  const KeyHash hash(header->secret);
  const core::Quota quota = QuotaOf(Algorithm::kGcra, 10);
  std::vector<std::string> chosen;
  for (std::uint64_t i = 0; chosen.size() < kRoom; ++i) {
    std::string text = std::to_string(i);
    const OwnedKey key(text);
    if (hash.Of(key.view().rule, key.view(), quota).high >> 58U == 0) {  // One home in 64.
      chosen.push_back(std::move(text));
    }
  }
  const auto denials = [&](Table& table, auto text_of) {
    std::uint64_t denied = 0;
    for (std::uint64_t i = 0; i < kRoom; ++i) {
      denied += Ask(table, text_of(i), quota).decision.reason == Reason::kStoreFull ? 1U : 0U;
    }
    return denied;
  };
  const auto by_choice = [&](std::uint64_t i) { return chosen[i]; };
  EXPECT_GT(denials(*theirs, by_choice), kRoom / 2);  // It is a choice worth making, there.
  EXPECT_EQ(denials(*open(""), by_choice), 0U);
  EXPECT_EQ(denials(*open(""), [](std::uint64_t i) { return "r" + std::to_string(i); }), 0U);
  std::filesystem::remove(path);
}

// Blocks in use follow use, never limits.
TEST(TableBlocksTest, AThousandLogsOfOneEntryTakeAThousandBlocks) {
  support::ManualClock clock;
  const auto table = std::move(
      *Table::Create({.path = "", .keys = 2000, .blocks = 100'000, .huge_pages = false}, clock));
  for (const Algorithm algorithm : {Algorithm::kSlidingWindowLog, Algorithm::kSlidingWindow}) {
    for (int i = 0; i < 1000; ++i) {
      ASSERT_TRUE(Ask(*table, std::to_string(i), QuotaOf(algorithm, 1'000'000)).charged);
    }
    EXPECT_EQ(table->Stats().blocks_in_use, 1000U);
    EXPECT_LT(table->Stats().blocks_in_use * sizeof(Block), 10'000'000U);
    clock.Advance(std::chrono::hours(3));
    (void)table->Sweep();
    EXPECT_EQ(table->Stats().blocks_in_use, 0U);
  }
}

}  // namespace
}  // namespace sluice::store
