#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

#include "store/table.h"
#include "store/table_inspection.h"
#include "support/manual_clock.h"
#include "support/store_calls.h"

// A table's file with bytes that no table wrote. Whatever they are, opening it says what is
// wrong, or the table decides; it never crashes.
namespace sluice::store {
namespace {

using core::Algorithm;
using support::OwnedCheckCall;
using support::OwnedKey;
using support::QuotaOf;

constexpr std::uint64_t kDamagedKeys = 40;
constexpr std::uint64_t kBlocks = 60;

class TableDamageTest : public ::testing::Test {
 protected:
  TableDamageTest() : path_("/dev/shm/sluice_damage_" + std::to_string(getpid())) {
    std::filesystem::remove(path_);
  }
  ~TableDamageTest() override { std::filesystem::remove(path_); }

  Result<std::unique_ptr<Table>> Open(std::uint64_t keys = kDamagedKeys) {
    return Table::Create({.path = path_, .keys = keys, .blocks = kBlocks, .huge_pages = false},
                         clock_);
  }
  // Every verb, on every key.
  void UseAll(Table& table) {
    std::vector<std::unique_ptr<OwnedKey>> keys;
    for (int i = 0; i < 3; ++i) {
      keys.push_back(std::make_unique<OwnedKey>(std::to_string(i)));
    }
    for (const Algorithm algorithm : core::kRuleAlgorithms) {
      const core::Quota quota = QuotaOf(algorithm, 100);
      for (const auto& key : keys) {
        clock_.Advance(Duration(1));
        for (const bool peek : {true, false}) {
          OwnedCheckCall call;
          call.peek = peek;
          call.Add({.key = key->view(), .quota = quota, .cost = {}});
          const std::array<CheckCall*, 1> batch{&call};
          table.CheckMany(batch);
          holds_.push_back(call.own_answers[0].hold);
        }
        support::Answered<RefundCall> refund;
        refund.key = key->view();
        refund.quota = quota;
        refund.units = 1;
        if (holds_.size() % 4 == 0) {
          table.Refund(refund);
        }
        support::Answered<HoldCall> release;
        release.key = key->view();
        release.quota = quota;
        release.hold = holds_[holds_.size() / 2];
        table.Release(release);
      }
    }
    (void)table.Sweep();
    (void)table.Stats();
  }

  const std::string path_;
  support::ManualClock clock_;
  std::vector<HoldId> holds_;
};

class Nobody final : public KeySink {
 public:
  bool Take(const KeyImage&, std::span<const std::byte>) override { return true; }
};

TEST_F(TableDamageTest, AnyBytesAreRefusedOrDecidedOn) {
  {
    const auto table = Open();
    for (int i = 0; i < 12; ++i) {
      UseAll(**table);
    }
  }
  std::string good;
  {
    std::ifstream file(path_, std::ios::binary);
    good.assign(std::istreambuf_iterator<char>(file), {});
  }
  const TableLayout layout =
      TableLayout::Of({.homes = kDamagedKeys + kDamagedKeys / 4, .blocks = kBlocks});
  ASSERT_EQ(good.size(), layout.bytes);
  // What a run may damage: the header, a journal record, slots, blocks.
  const std::size_t journal = layout.journal + sizeof(JournalRecord);
  const std::array<std::pair<std::size_t, std::size_t>, 4> parts{
      {{0, sizeof(TableHeader)},
       {layout.journal, journal},
       {layout.slots, layout.slots + layout.slot_count() * sizeof(Slot)},
       {layout.blocks, layout.bytes}}};
  std::mt19937 random(1);
  int opened = 0;
  for (int i = 0; i < 60; ++i) {
    SCOPED_TRACE(i);
    std::string bad = good;
    const auto [from, to] = parts[random() % parts.size()];
    const auto many = 1U << (random() % 10);
    for (unsigned k = 0; k < many; ++k) {
      bad[from + random() % (to - from)] = static_cast<char>(random());
    }
    if (random() % 10 == 0) {
      bad.resize(random() % (2 * bad.size()));
    }
    std::ofstream(path_, std::ios::binary | std::ios::trunc) << bad;
    Nobody nobody;
    (void)InspectTable(path_, nobody);
    const auto table = Open(random() % 4 == 0 ? kDamagedKeys * 2 : kDamagedKeys);
    if (!table.has_value()) {
      EXPECT_NE(table.error().Text().find("remove the file"), std::string::npos)
          << table.error().Text();
      continue;
    }
    ++opened;
    UseAll(**table);
    clock_.Advance(std::chrono::hours(1));
    UseAll(**table);
  }
  EXPECT_GT(opened, 10);
}

}  // namespace
}  // namespace sluice::store
