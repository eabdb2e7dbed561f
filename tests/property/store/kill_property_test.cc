#include <array>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <new>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "store/table.h"
#include "support/manual_clock.h"
#include "support/soak.h"
#include "support/store_calls.h"

// A process decides on several threads as fast as it can and is killed at a random instant, its
// opening of the table included, hundreds of times. It notes in shared memory what it is about
// to ask and what was answered; whoever opens the table next must find exactly that: every
// answered charge, at most one more a thread (of which the answer never left), each request
// whole, each hold that was handed out, and in the end nothing left behind.
namespace sluice::store {
namespace {

using core::Algorithm;
using support::OwnedCheckCall;
using support::OwnedKey;
using support::QuotaOf;

constexpr auto kAlgorithms = core::AlgorithmsWith<&core::AlgorithmTraits::has_receipts>();
constexpr int kThreads = 3;
constexpr int kGroups = 4;
constexpr int kKillsAnEpoch = 50;
// No more than a unit comes back to a bucket of that size while an epoch's nanoseconds pass.
constexpr Units kWide = 1'000'000;
constexpr Units kTight = 40;
constexpr int kHoldsKept = 48;
constexpr int kBanned = 6;    // Keys of each thread that it bans and lifts the ban of.
constexpr int kSettled = 20;  // Charges that each thread settles in an epoch: each leaves a mark.
constexpr Duration kWindow = std::chrono::hours(1);
constexpr std::size_t kBlocks = 20'000;
// A process asks no more than this before it is killed, however late the kill comes: the logs of
// an epoch must fit in half of the blocks, for a table that is full may forget what it answered.
constexpr std::int64_t kMostRequests = 5'000;

// Units about to be charged to one key or group of keys, and those answered. In shared memory.
struct Account {
  std::atomic<Units> begun{0};
  std::atomic<Units> answered{0};

  void Settle(Units used) {
    begun = used;
    answered = used;
  }
};

struct KeptHold {
  HoldId id = 0;
  int group = 0;
  Units units = 0;
};

// What one thread holds. The last is added before it counts and stops counting before it is
// given back; `releasing` may or may not be there any more.
struct KeptHolds {
  std::array<KeptHold, kHoldsKept> holds{};
  std::atomic<int> count{0};
  KeptHold releasing{};
};

// Whether a key is banned: what was answered last, or unknown while it is being changed.
enum class Banned : std::uint8_t { kUnknown, kNo, kYes };

// A charge of three units that was settled at one.
struct LastSettled {
  Receipt receipt;
  std::atomic<bool> answered{false};
};

// What outlives a killed child.
struct Ledger {
  support::ManualClock clock;
  std::array<Account, kGroups> groups;  // All rules move together.
  std::array<std::array<Account, kAlgorithms.size()>, 2>
      alone;                              // One check a request: wide, tight.
  std::array<Account, kGroups> acquired;  // Units of holds.
  std::array<KeptHolds, kThreads> kept;
  std::array<std::array<std::atomic<Banned>, kBanned>, kThreads> banned{};
  std::array<Account, kThreads> settled;
  std::array<std::atomic<int>, kThreads> settled_count{};
  std::array<LastSettled, kThreads> last_settled;
  std::atomic<std::int64_t> requests{0};
};

class KillProperty : public ::testing::Test {
 protected:
  KillProperty()
      : path_("/dev/shm/sluice_kill_" + std::to_string(getpid())),
        ledger_(new(mmap(nullptr, sizeof(Ledger), PROT_READ | PROT_WRITE,
                         MAP_SHARED | MAP_ANONYMOUS, -1, 0)) Ledger) {
    std::filesystem::remove(path_);
  }
  ~KillProperty() override {
    munmap(ledger_, sizeof(Ledger));
    std::filesystem::remove(path_);
    for (const char* which : {"", ".previous", ".new"}) {
      std::filesystem::remove(SnapshotPath() + which);
    }
  }

  std::unique_ptr<Table> Open() {
    auto table = Table::Create({.path = path_,
                                .keys = 500,
                                .blocks = kBlocks,
                                .huge_pages = false,
                                .snapshot = SnapshotPath()},
                               ledger_->clock);
    if (!table) {
      ADD_FAILURE() << table.error().Text();
      std::abort();
    }
    return *std::move(table);
  }

  [[nodiscard]] std::string SnapshotPath() const { return path_ + ".snapshot"; }
  static std::string GroupKey(int group) { return "group" + std::to_string(group); }
  static std::string LoneKey(Units limit) { return "alone" + std::to_string(limit); }

  static CheckAnswer Ask(Table& table, const std::string& key_text, const core::Quota& quota,
                         Units cost, bool peek) {
    const OwnedKey key(key_text);
    OwnedCheckCall call;
    call.peek = peek;
    call.Add({.key = key.view(), .quota = quota, .cost = Cost{cost}});
    const std::array<CheckCall*, 1> batch{&call};
    table.CheckMany(batch);
    return call.own_answers[0];
  }
  static Units Used(Table& table, const std::string& key, Algorithm algorithm, Units limit) {
    return limit - Ask(table, key, QuotaOf(algorithm, limit), 0, true).decision.remaining;
  }
  static StoreError Release(Table& table, const KeptHold& hold) {
    const OwnedKey key(GroupKey(hold.group));
    support::Answered<HoldCall> call;
    call.key = key.view();
    call.quota = QuotaOf(Algorithm::kConcurrency, kWide);
    call.hold = hold.id;
    table.Release(call);
    return call.error;
  }

  // One request of all rules at once, a hold among them.
  void AskGroup(Table& table, int thread, int group, Units cost) {
    const OwnedKey key(GroupKey(group));
    OwnedCheckCall call;
    for (const Algorithm algorithm : kAlgorithms) {
      call.Add({.key = key.view(), .quota = QuotaOf(algorithm, kWide), .cost = Cost{cost}});
    }
    KeptHolds& kept = ledger_->kept[thread];
    const bool hold = kept.count < kHoldsKept;
    if (hold) {
      call.Add({.key = key.view(),
                .quota = QuotaOf(Algorithm::kConcurrency, kWide),
                .cost = Cost{cost}});
      ledger_->acquired[group].begun += cost;
    }
    const std::array<CheckCall*, 1> batch{&call};
    ledger_->groups[group].begun += cost;
    table.CheckMany(batch);
    ledger_->groups[group].answered += cost;
    if (hold) {
      kept.holds[kept.count] = {.id = call.own_answers.back().hold, .group = group, .units = cost};
      ++kept.count;
    }
  }

  void AskAlone(Table& table, int wide_or_tight, std::size_t algorithm, Units cost) {
    const Units limit = wide_or_tight == 0 ? kWide : kTight;
    Account& account = ledger_->alone[wide_or_tight][algorithm];
    account.begun += cost;
    if (Ask(table, LoneKey(limit), QuotaOf(kAlgorithms[algorithm], limit), cost, false).charged) {
      account.answered += cost;
    } else {
      account.begun -= cost;
    }
  }

  void ReleaseNewest(Table& table, int thread) {
    KeptHolds& kept = ledger_->kept[thread];
    if (kept.count == 0) {
      return;
    }
    kept.releasing = kept.holds[kept.count - 1];
    --kept.count;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    (void)Release(table, kept.releasing);
    std::atomic_signal_fence(std::memory_order_seq_cst);
    kept.releasing = {};
  }

  static std::string BanKey(int thread, int i) {
    return "abuser" + std::to_string(thread) + "_" + std::to_string(i);
  }
  static std::string SettledKey(int thread) { return "settled" + std::to_string(thread); }

  // Bans the key by one denial, or lifts its ban.
  void Ban(Table& table, int thread, int i, bool lift) {
    std::atomic<Banned>& banned = ledger_->banned[thread][i];
    const OwnedKey key(BanKey(thread, i));
    banned = Banned::kUnknown;
    if (lift) {
      support::Answered<BanCall> call;
      call.key = key.view();
      table.Unban(call);
    } else {
      (void)Denied(table, key, false);
    }
    banned = lift ? Banned::kNo : Banned::kYes;
  }
  static Reason Denied(Table& table, const OwnedKey& key, bool peek) {
    static constexpr core::Ban kBan{.after = 1, .within = kWindow, .lasts = kWindow};
    OwnedCheckCall call;
    call.peek = peek;
    call.Add({.key = key.view(),
              .quota = QuotaOf(Algorithm::kFixedWindow, 0),
              .cost = Cost{1},
              .ban = &kBan});
    const std::array<CheckCall*, 1> batch{&call};
    table.CheckMany(batch);
    return call.own_answers[0].decision.reason;
  }

  static Units Settle(Table& table, int thread, const Receipt& receipt, Units units) {
    const OwnedKey key(SettledKey(thread));
    support::Answered<SettleCall> call;
    call.key = key.view();
    call.quota = QuotaOf(Algorithm::kSlidingWindowLog, kWide);
    call.receipt = receipt;
    call.charged = 3;
    call.units = units;
    table.Settle(call);
    EXPECT_EQ(call.error, StoreError::kNone);
    return call.settled;
  }
  void ChargeAndSettle(Table& table, int thread) {
    if (ledger_->settled_count[thread] >= kSettled) {
      return;
    }
    Account& account = ledger_->settled[thread];
    LastSettled& last = ledger_->last_settled[thread];
    last.answered = false;
    account.begun += 3;
    const OwnedKey key(SettledKey(thread));
    OwnedCheckCall call;
    call.Add({.key = key.view(),
              .quota = QuotaOf(Algorithm::kSlidingWindowLog, kWide),
              .cost = Cost{3},
              .want_receipt = true});
    const std::array<CheckCall*, 1> batch{&call};
    table.CheckMany(batch);
    last.receipt = call.own_answers[0].receipt;
    (void)Settle(table, thread, last.receipt, 1);
    account.answered += 1;
    account.begun -= 2;
    ++ledger_->settled_count[thread];
    last.answered = true;
  }

  [[noreturn]] void Hammer(unsigned seed) {
    const std::unique_ptr<Table> table = Open();
    const std::int64_t enough = ledger_->requests + kMostRequests;
    std::vector<std::thread> threads;
    for (int thread = 0; thread < kThreads; ++thread) {
      threads.emplace_back([this, thread, seed, enough, &table] {
        std::mt19937 random(seed * kThreads + static_cast<unsigned>(thread));
        for (;;) {
          if (ledger_->requests >= enough) {
            sched_yield();
            continue;
          }
          ledger_->clock.Advance(Duration(1));
          const Units cost = 1 + static_cast<Units>(random() % 3);
          switch (random() % 6) {
            case 0:
            case 1:
              AskGroup(*table, thread, static_cast<int>(random() % kGroups), cost);
              break;
            case 2:
              AskAlone(*table, static_cast<int>(random() % 2), random() % kAlgorithms.size(), cost);
              break;
            case 3:
              Ban(*table, thread, static_cast<int>(random() % kBanned), random() % 2 == 0);
              break;
            case 4:
              ChargeAndSettle(*table, thread);
              break;
            default:
              ReleaseNewest(*table, thread);
          }
          ++ledger_->requests;
        }
      });
    }
    for (;;) {
      if (!table->WriteSnapshot()) {
        std::abort();
      }
    }
  }

  // Somewhere between its first instruction and its thousandth request.
  void KillOnce(std::mt19937& random) {
    const std::int64_t before = ledger_->requests;
    const auto seed = static_cast<unsigned>(random());
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      Hammer(seed);
    }
    const auto requests = static_cast<std::int64_t>(random() % 8 == 0 ? 0 : 1 + random() % 400);
    int status = 0;
    while (ledger_->requests < before + requests) {
      ASSERT_EQ(waitpid(child, &status, WNOHANG), 0) << "it ended by itself: " << status;
      sched_yield();
    }
    const auto moment =
        std::chrono::steady_clock::now() + std::chrono::nanoseconds(random() % 3'000'000);
    while (std::chrono::steady_clock::now() < moment) {
      sched_yield();
    }
    kill(child, SIGKILL);
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) << status;
  }

  void ExpectWhole(Table& table) {
    ASSERT_LT(table.Stats().blocks_in_use, kBlocks / 2) << "the test itself runs out of blocks";
    for (int group = 0; group < kGroups; ++group) {
      Account& account = ledger_->groups[group];
      const Units used = Used(table, GroupKey(group), kAlgorithms[0], kWide);
      for (const Algorithm algorithm : kAlgorithms) {
        EXPECT_EQ(Used(table, GroupKey(group), algorithm, kWide), used) << core::NameOf(algorithm);
      }
      EXPECT_GE(used, account.answered);
      EXPECT_LE(used, account.begun);
      account.Settle(used);
    }
    for (const int i : {0, 1}) {
      const Units limit = i == 0 ? kWide : kTight;
      for (std::size_t a = 0; a < kAlgorithms.size(); ++a) {
        Account& account = ledger_->alone[i][a];
        const Units used = Used(table, LoneKey(limit), kAlgorithms[a], limit);
        EXPECT_GE(used, account.answered) << core::NameOf(kAlgorithms[a]) << " of " << limit;
        EXPECT_LE(used, std::min(account.begun.load(), limit)) << core::NameOf(kAlgorithms[a]);
        account.Settle(used);
      }
    }
  }

  // Every hold whose id was handed out is there, and can be given back, once. What is in
  // flight beyond those was granted to a request whose answer never left.
  void ExpectHolds(Table& table, std::mt19937& random) {
    std::array<Units, kGroups> known{};
    for (KeptHolds& kept : ledger_->kept) {
      if (kept.releasing.id != 0) {
        // Killed between the two: it still counts.
        kept.count -= kept.count > 0 && kept.holds[kept.count - 1].id == kept.releasing.id ? 1 : 0;
        (void)Release(table, kept.releasing);
        EXPECT_EQ(Release(table, kept.releasing), StoreError::kNotFound);
        kept.releasing = {};
      }
      while (kept.count > 0 && random() % 4 != 0) {
        const KeptHold& newest = kept.holds[--kept.count];
        EXPECT_EQ(Release(table, newest), StoreError::kNone);
        EXPECT_EQ(Release(table, newest), StoreError::kNotFound);
      }
      for (int i = 0; i < kept.count; ++i) {
        known[kept.holds[i].group] += kept.holds[i].units;
      }
    }
    for (int group = 0; group < kGroups; ++group) {
      const Units in_flight = Used(table, GroupKey(group), Algorithm::kConcurrency, kWide);
      unowned_[group] = std::max(unowned_[group], in_flight - known[group]);
      EXPECT_GE(in_flight, known[group]);
      EXPECT_LE(in_flight - known[group], 3 * kThreads * kills_this_epoch_);
    }
  }

  // A ban that was answered holds and can be read, one that was lifted does not; and what is
  // being changed is one of the two, in the list as at the check.
  void ExpectBans(Table& table) {
    support::Answered<BansCall> list;
    table.ListBans(list);
    std::set<std::string> listed;
    for (const BannedKey& ban : list.bans) {
      EXPECT_EQ(ban.key.rule(), "r");
      ASSERT_EQ(ban.key.parts().size(), 1U);
      listed.emplace(ban.key.parts()[0].value);
    }
    EXPECT_EQ(listed.size(), list.bans.size());
    for (int thread = 0; thread < kThreads; ++thread) {
      for (int i = 0; i < kBanned; ++i) {
        const std::string text = BanKey(thread, i);
        const bool banned = Denied(table, OwnedKey(text), true) == Reason::kBanned;
        EXPECT_EQ(listed.contains(text), banned) << text;
        std::atomic<Banned>& said = ledger_->banned[thread][i];
        if (said != Banned::kUnknown) {
          EXPECT_EQ(said == Banned::kYes, banned) << text;
        }
        said = banned ? Banned::kYes : Banned::kNo;
      }
    }
  }

  // What was settled stays settled, once.
  void ExpectSettled(Table& table) {
    for (int thread = 0; thread < kThreads; ++thread) {
      Account& account = ledger_->settled[thread];
      const auto used = [&] {
        return Used(table, SettledKey(thread), Algorithm::kSlidingWindowLog, kWide);
      };
      const Units now = used();
      EXPECT_GE(now, account.answered);
      EXPECT_LE(now, account.begun);
      account.Settle(now);
      LastSettled& last = ledger_->last_settled[thread];
      if (last.answered) {
        EXPECT_EQ(Settle(table, thread, last.receipt, 0), 1);
        EXPECT_EQ(used(), now);
      }
    }
  }

  // Killed in the middle of a snapshot too, the newest one is whole, and has of no key more than
  // was asked for.
  void ExpectGoodSnapshot() {
    if (!std::filesystem::exists(SnapshotPath())) {
      return;
    }
    const auto copy = Table::Create({.path = "",
                                     .keys = 500,
                                     .blocks = kBlocks,
                                     .huge_pages = false,
                                     .snapshot = SnapshotPath()},
                                    ledger_->clock);
    ASSERT_TRUE(copy.has_value()) << copy.error().Text();
    EXPECT_THAT((*copy)->opening().warnings, ::testing::IsEmpty());
    for (int group = 0; group < kGroups; ++group) {
      for (const Algorithm algorithm : kAlgorithms) {
        EXPECT_LE(Used(**copy, GroupKey(group), algorithm, kWide), ledger_->groups[group].answered);
      }
    }
  }

  // When every window and every hold has ended, nothing is left: no use, no block.
  void ExpectNothingLeft(Table& table) {
    // A slot keeps its expiry in whole seconds, rounded up.
    ledger_->clock.Advance(2 * kWindow + std::chrono::seconds(1));
    for (int group = 0; group < kGroups; ++group) {
      for (const Algorithm algorithm : kAlgorithms) {
        EXPECT_EQ(Used(table, GroupKey(group), algorithm, kWide), 0) << core::NameOf(algorithm);
      }
      EXPECT_EQ(Used(table, GroupKey(group), Algorithm::kConcurrency, kWide), 0);
      ledger_->groups[group].Settle(0);
      ledger_->acquired[group].Settle(0);
    }
    for (auto& accounts : ledger_->alone) {
      for (Account& account : accounts) {
        account.Settle(0);
      }
    }
    for (KeptHolds& kept : ledger_->kept) {
      kept.count = 0;
    }
    for (int thread = 0; thread < kThreads; ++thread) {
      for (std::atomic<Banned>& banned : ledger_->banned[thread]) {
        banned = Banned::kNo;
      }
      ledger_->settled[thread].Settle(0);
      ledger_->settled_count[thread] = 0;
      ledger_->last_settled[thread].answered = false;
    }
    ExpectBans(table);
    std::filesystem::remove(SnapshotPath());  // Of the epoch before.
    (void)table.Sweep();
    EXPECT_EQ(table.Stats().live_slots, 0U);
    EXPECT_EQ(table.Stats().blocks_in_use, 0U);
    unowned_ = {};
    kills_this_epoch_ = 0;
  }

  const std::string path_;
  Ledger* ledger_;
  std::array<Units, kGroups> unowned_{};
  int kills_this_epoch_ = 0;
};

TEST_F(KillProperty, AProcessKilledAtAnyInstantLosesNothingItAnswered) {
  const std::uint64_t epochs = 4 * support::SoakFactor();
  std::mt19937 random(static_cast<unsigned>(epochs));
  int undone = 0;
  for (std::uint64_t epoch = 0; epoch < epochs && !HasFailure(); ++epoch) {
    for (int i = 0; i < kKillsAnEpoch && !HasFailure(); ++i) {
      SCOPED_TRACE("kill " + std::to_string(i) + " of epoch " + std::to_string(epoch));
      ASSERT_NO_FATAL_FAILURE(KillOnce(random));
      ++kills_this_epoch_;
      const std::unique_ptr<Table> table = Open();
      undone += table->requests_undone();
      ExpectWhole(*table);
      ExpectHolds(*table, random);
      ExpectBans(*table);
      ExpectSettled(*table);
      ExpectGoodSnapshot();
    }
    ExpectNothingLeft(*Open());
  }
  // The kills hit the middle of writes, or this test would show little.
  EXPECT_GT(undone, 0);
  RecordProperty("requests_undone", undone);
}

}  // namespace
}  // namespace sluice::store
