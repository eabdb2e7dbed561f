#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

#include "store/table.h"
#include "support/manual_clock.h"
#include "support/store_calls.h"

// What is no key of an algorithm lives as keys do: over a restart, in a table of another size, in
// a snapshot. And the keys of CL.THROTTLE with it.
namespace sluice::store {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using support::OwnedCheckCall;
using support::OwnedKey;

core::Quota Throttled() {
  return {.algorithm = core::Algorithm::kThrottle, .limit = 10, .rate = 1, .window = hours(1)};
}
core::Quota Windowed() {
  return {.algorithm = core::Algorithm::kSlidingWindow, .limit = 10, .window = hours(2)};
}

class BanSurvivalTest : public ::testing::Test {
 protected:
  BanSurvivalTest()
      : folder_("/dev/shm/sluice_bans_" + std::to_string(getpid()) + "_" +
                ::testing::UnitTest::GetInstance()->current_test_info()->name()) {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directory(folder_);
  }
  ~BanSurvivalTest() override { std::filesystem::remove_all(folder_); }

  void Open(std::uint64_t keys = 1000, std::uint64_t blocks = 500) {
    table_.reset();
    auto table = Table::Create({.path = folder_ + "/table",
                                .keys = keys,
                                .blocks = blocks,
                                .huge_pages = false,
                                .snapshot = folder_ + "/snapshot"},
                               clock_);
    ASSERT_TRUE(table.has_value()) << table.error().Text();
    table_ = *std::move(table);
  }

  CheckAnswer Ask(const std::string& text, const core::Quota& quota, Units cost,
                  bool receipt = false) {
    const OwnedKey key(text);
    OwnedCheckCall call;
    call.Add({.key = key.view(), .quota = quota, .cost = Cost{cost}, .want_receipt = receipt});
    CheckCall* const one = &call;
    table_->CheckMany({&one, 1});
    return call.own_answers[0];
  }
  void Ban(const std::string& text) {
    const OwnedKey key(text);
    support::Answered<BanCall> call;
    call.key = key.view();
    call.duration = hours(1);
    table_->Ban(call);
    ASSERT_EQ(call.error, StoreError::kNone);
  }
  Units SettleAt(Units units) { return Settle("settled", receipt_, 6, units); }
  Units Settle(const std::string& text, const Receipt& receipt, Units charged, Units units) {
    const OwnedKey key(text);
    support::Answered<SettleCall> call;
    call.key = key.view();
    call.quota = Windowed();
    call.receipt = receipt;
    call.charged = charged;
    call.units = units;
    table_->Settle(call);
    EXPECT_EQ(call.error, StoreError::kNone);
    return call.settled;
  }

  void Fill() {
    Ban(long_);
    Ban("short");
    receipt_ = Ask("settled", Windowed(), 6, true).receipt;
    EXPECT_EQ(SettleAt(2), 2);
    EXPECT_TRUE(Ask("throttled", Throttled(), 4).decision.allowed);
    before_reset_ = Ask("reset", Windowed(), 4, true).receipt;
    clock_.Advance(std::chrono::seconds(1));
    const OwnedKey key("reset");
    support::Answered<ResetCall> reset;
    reset.key = key.view();
    reset.quota = Windowed();
    table_->Reset(reset);
    EXPECT_EQ(reset.error, StoreError::kNone);
    EXPECT_TRUE(Ask("reset", Windowed(), 3).decision.allowed);
  }
  void ExpectAllThere() {
    support::Answered<BansCall> list;
    table_->ListBans(list);
    ASSERT_EQ(list.bans.size(), 2U);
    std::vector<std::string> texts;
    for (const BannedKey& ban : list.bans) {
      ASSERT_EQ(ban.key.parts().size(), 1U);
      texts.emplace_back(ban.key.parts()[0].value);
      EXPECT_EQ(ban.until - ban.since, hours(1));
    }
    std::ranges::sort(texts);
    EXPECT_EQ(texts, (std::vector<std::string>{"short", long_}));
    EXPECT_EQ(SettleAt(0), 2);
    EXPECT_EQ(Ask("settled", Windowed(), 0).decision.remaining, 8);
    EXPECT_EQ(Ask("throttled", Throttled(), 0).decision.remaining, 6);
    EXPECT_EQ(Settle("reset", before_reset_, 4, 0), 4);  // Nothing comes back.
    EXPECT_EQ(Ask("reset", Windowed(), 0).decision.remaining, 7);
  }

  std::string folder_;
  support::ManualClock clock_;
  std::unique_ptr<Table> table_;
  Receipt receipt_;
  Receipt before_reset_;
  const std::string long_ = std::string(1000, 'x');  // Nine blocks of it.
};

TEST_F(BanSurvivalTest, OverARestartAndInATableOfAnotherSize) {
  Open();
  Fill();
  Open();
  ExpectAllThere();
  Open(2'000, 800);
  ExpectAllThere();
  Open(300, 60);
  ExpectAllThere();
  EXPECT_TRUE(table_->opening().warnings.empty());
}

TEST_F(BanSurvivalTest, InASnapshot) {
  Open();
  Fill();
  ASSERT_TRUE(table_->WriteSnapshot().has_value());
  table_.reset();
  std::filesystem::remove(folder_ + "/table");
  Open(900, 400);
  EXPECT_TRUE(table_->opening().warnings.empty());
  ExpectAllThere();
}

TEST_F(BanSurvivalTest, TheirRoomComesBack) {
  Open();
  Fill();
  clock_.Advance(hours(3) + std::chrono::seconds(1));
  (void)table_->Sweep();
  EXPECT_EQ(table_->Stats().blocks_in_use, 0U);
  support::Answered<BansCall> list;
  table_->ListBans(list);
  EXPECT_TRUE(list.bans.empty());
}

TEST_F(BanSurvivalTest, WithoutABlockABanHoldsAndHasNoText) {
  Open(1000, 1);
  Ban("first");
  Ban("second");
  support::Answered<BansCall> list;
  table_->ListBans(list);
  ASSERT_EQ(list.bans.size(), 2U);
  int with_text = 0;
  for (const BannedKey& ban : list.bans) {
    EXPECT_EQ(ban.key.rule(), "r");
    with_text += static_cast<int>(ban.key.parts().size());
  }
  EXPECT_EQ(with_text, 1);
  Open(1000, 1);
  table_->ListBans(list);
  EXPECT_EQ(list.bans.size(), 2U);
}

}  // namespace
}  // namespace sluice::store
