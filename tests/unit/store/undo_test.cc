#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

#include "store/table.h"
#include "support/manual_clock.h"
#include "support/store_calls.h"

// The worst moment to be killed at, for each kind of write: all of it is done, and nothing of it
// counts yet, for the journal still stands. Made from the file of a living process: what the
// journal noted stays behind in its record, only the count is taken back.
namespace sluice::store {
namespace {

using core::Algorithm;
using support::OwnedCheckCall;
using support::OwnedKey;
using support::QuotaOf;

constexpr Units kUndoLimit = 1000;
constexpr std::array kMoved{Algorithm::kGcra, Algorithm::kSlidingWindowLog,
                            Algorithm::kConcurrency};

CheckAnswer Ask(Table& table, const OwnedKey& key, Algorithm algorithm, Units cost,
                bool peek = false) {
  OwnedCheckCall call;
  call.peek = peek;
  call.Add({.key = key.view(), .quota = QuotaOf(algorithm, kUndoLimit), .cost = Cost{cost}});
  support::Send(table, call);
  return call.own_answers[0];
}

class UndoTest : public ::testing::Test {
 protected:
  UndoTest()
      : path_("/dev/shm/sluice_undo_" + std::to_string(getpid()) + "_" +
              ::testing::UnitTest::GetInstance()->current_test_info()->name()),
        killed_(path_ + ".killed") {
    std::filesystem::remove(path_);
  }
  ~UndoTest() override {
    std::filesystem::remove(path_);
    std::filesystem::remove(killed_);
  }

  std::unique_ptr<Table> Open(const std::string& path) {
    return std::move(*Table::Create(
        {.path = path, .keys = kKeys, .blocks = kBlocks, .huge_pages = false}, clock_));
  }

  // What `look` sees, and how many blocks are in use, is the same before `request` as for whoever
  // opens the file of a process that was killed at its end.
  template <class Setup, class Request, class Look>
  std::unique_ptr<Table> ExpectUndone(Setup setup, Request request, Look look) {
    setup(*Open(path_));
    ForgetJournal();
    const auto table = Open(path_);
    const auto before = look(*table);
    const std::uint64_t blocks = table->Stats().blocks_in_use;
    request(*table);
    EXPECT_NE(look(*table), before);
    std::filesystem::copy_file(path_, killed_, std::filesystem::copy_options::overwrite_existing);
    ReviveJournal();
    auto next = Open(killed_);
    EXPECT_EQ(next->requests_undone(), 1);
    EXPECT_EQ(look(*next), before);
    EXPECT_EQ(next->Stats().blocks_in_use, blocks);
    return next;
  }

  support::ManualClock clock_;

 private:
  static constexpr std::uint64_t kKeys = 100;
  static constexpr std::uint64_t kBlocks = 100;
  // The record of this thread, which is the first to use each table.
  [[nodiscard]] static std::streamoff JournalOffset() {
    return static_cast<std::streamoff>(
        TableLayout::Of({.homes = kKeys + kKeys / 4, .blocks = kBlocks}).journal);
  }
  void ForgetJournal() {
    std::fstream file(path_, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(JournalOffset());
    const std::vector<char> zeros(sizeof(JournalRecord));
    file.write(zeros.data(), static_cast<std::streamsize>(zeros.size()));
  }
  void ReviveJournal() {
    std::fstream file(killed_, std::ios::in | std::ios::out | std::ios::binary);
    std::uint32_t count = 0;
    for (; count < kJournalRanges; ++count) {
      SavedRange range;
      file.seekg(JournalOffset() + static_cast<std::streamoff>(offsetof(JournalRecord, ranges) +
                                                               count * sizeof(SavedRange)));
      file.read(reinterpret_cast<char*>(&range), sizeof(range));
      if (range.size == 0) {
        break;
      }
    }
    file.seekp(JournalOffset());
    file.write(reinterpret_cast<const char*>(&count), sizeof(count));
  }

  std::string path_;
  std::string killed_;
};

TEST_F(UndoTest, ARequestUnderEveryAlgorithm) {
  constexpr auto kUndone = core::kStepsInRules;
  const OwnedKey key("k");
  const auto charge = [&](Table& table) {
    OwnedCheckCall call;
    for (const Algorithm algorithm : kUndone) {
      call.Add({.key = key.view(), .quota = QuotaOf(algorithm, kUndoLimit), .cost = Cost{3}});
    }
    clock_.Advance(Duration(1));
    support::Send(table, call);
  };
  const auto look = [&](Table& table) {
    std::vector<Units> remaining;
    for (const Algorithm algorithm : kUndone) {
      remaining.push_back(Ask(table, key, algorithm, 0, true).decision.remaining);
    }
    return remaining;
  };
  // Four and seven earlier ones: the next takes a block of holds, then one of entries.
  for (const int earlier : {0, 1, 4, 7}) {
    SCOPED_TRACE(earlier);
    const OwnedKey reset("k");
    (void)ExpectUndone(
        [&](Table& table) {
          for (const Algorithm algorithm : kUndone) {
            support::Answered<ResetCall> call;
            call.key = reset.view();
            call.quota = QuotaOf(algorithm, kUndoLimit);
            table.Reset(call);
          }
          for (int i = 0; i < earlier; ++i) {
            charge(table);
          }
        },
        charge, look);
  }
}

// A state moves to the new id as soon as the key is looked at there: it is back under the old one,
// whole.
TEST_F(UndoTest, TheMoveOfAStateFromAFormerId) {
  for (const Algorithm algorithm : kMoved) {
    SCOPED_TRACE(core::NameOf(algorithm));
    const std::string text(core::NameOf(algorithm));
    const OwnedKey before(text, "old");
    const OwnedKey renamed(text, "new", "old");
    const OwnedKey alone(text, "new");
    HoldId hold = 0;
    const auto next = ExpectUndone(
        [&](Table& table) {
          for (int i = 0; i < 5; ++i) {  // Two blocks of holds.
            const CheckAnswer answer = Ask(table, before, algorithm, 1);
            hold = hold == 0 ? answer.hold : hold;
          }
        },
        [&](Table& table) { (void)Ask(table, renamed, algorithm, 0, true); },
        [&](Table& table) {
          std::vector<Units> remaining;
          for (const OwnedKey* key : {&before, &alone}) {
            remaining.push_back(Ask(table, *key, algorithm, 0, true).decision.remaining);
          }
          return remaining;
        });
    if (hold != 0) {
      support::Answered<HoldCall> release;
      release.key = before.view();
      release.quota = QuotaOf(algorithm, kUndoLimit);
      release.hold = hold;
      next->Release(release);
      EXPECT_EQ(release.error, StoreError::kNone);
    }
  }
}

// A ban that is made longer: the one before still stands.
TEST_F(UndoTest, ABanOfAKeyThatIsBanned) {
  const OwnedKey key("k");
  const auto ban_for = [&](Table& table, std::chrono::hours length) {
    support::Answered<BanCall> call;
    call.key = key.view();
    call.duration = length;
    table.Ban(call);
    ASSERT_EQ(call.error, StoreError::kNone);
  };
  (void)ExpectUndone([&](Table& table) { ban_for(table, std::chrono::hours(1)); },
                     [&](Table& table) { ban_for(table, std::chrono::hours(5)); },
                     [&](Table& table) {
                       support::Answered<BansCall> list;
                       table.ListBans(list);
                       std::vector<Duration> left;
                       for (const BannedKey& ban : list.bans) {
                         EXPECT_EQ(ban.key.rule(), "r");
                         EXPECT_EQ(ban.key.parts().size(), 1U);
                         left.push_back(ban.until - ban.since);
                       }
                       return left;
                     });
}

TEST_F(UndoTest, ARefundOfSeveralEntries) {
  const OwnedKey key("k");
  (void)ExpectUndone(
      [&](Table& table) {
        for (int i = 0; i < 10; ++i) {  // Two blocks.
          clock_.Advance(Duration(1));
          (void)Ask(table, key, Algorithm::kSlidingWindowLog, 2);
        }
      },
      [&](Table& table) {
        support::Answered<RefundCall> refund;
        refund.key = key.view();
        refund.quota = QuotaOf(Algorithm::kSlidingWindowLog, kUndoLimit);
        refund.units = 5;
        table.Refund(refund);
      },
      [&](Table& table) {
        return Ask(table, key, Algorithm::kSlidingWindowLog, 0, true).decision.remaining;
      });
}

}  // namespace
}  // namespace sluice::store
