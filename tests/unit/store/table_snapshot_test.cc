#include <array>
#include <atomic>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include "store/table.h"
#include "store/table_snapshot_format.h"
#include "store/table_snapshot_reader.h"
#include "store/table_snapshot_writer.h"
#include "support/manual_clock.h"
#include "support/store_calls.h"

namespace sluice::store {
namespace {

using core::Algorithm;
using support::OwnedCheckCall;
using support::OwnedKey;
using support::QuotaOf;

constexpr auto kSnapshotted = core::kAllAlgorithms;

std::string BytesOf(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void Write(const std::string& path, std::string_view bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

class TableSnapshotTest : public ::testing::Test {
 protected:
  TableSnapshotTest()
      : folder_("/dev/shm/sluice_snapshot_" + std::to_string(getpid()) + "_" +
                ::testing::UnitTest::GetInstance()->current_test_info()->name()) {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directory(folder_);
  }
  ~TableSnapshotTest() override { std::filesystem::remove_all(folder_); }

  [[nodiscard]] std::string Path() const { return folder_ + "/table"; }
  [[nodiscard]] std::string Snapshot() const { return folder_ + "/table.snapshot"; }
  [[nodiscard]] TableOptions Options(std::uint64_t keys = 1000, std::uint64_t blocks = 1000) const {
    return {.path = Path(),
            .keys = keys,
            .blocks = blocks,
            .huge_pages = false,
            .snapshot = Snapshot()};
  }
  std::unique_ptr<Table> Open(const TableOptions& options) {
    auto table = Table::Create(options, clock_);
    EXPECT_TRUE(table.has_value()) << table.error().Text();
    return table.has_value() ? *std::move(table) : nullptr;
  }
  std::unique_ptr<Table> Open() { return Open(Options()); }
  [[nodiscard]] std::string Refusal(const TableOptions& options) {
    const auto table = Table::Create(options, clock_);
    return table.has_value() ? "" : table.error().Text();
  }
  // What a reboot leaves: the tmpfs is empty.
  void Reboot() { std::filesystem::remove(Path()); }

  static CheckAnswer Ask(Table& table, const std::string& text, const core::Quota& quota,
                         Units cost = 1, bool peek = false) {
    const OwnedKey key(text);
    OwnedCheckCall call;
    call.peek = peek;
    call.Add({.key = key.view(), .quota = quota, .cost = Cost{cost}});
    const std::array<CheckCall*, 1> batch{&call};
    table.CheckMany(batch);
    return call.own_answers[0];
  }
  static Units Used(Table& table, const std::string& key, Algorithm algorithm,
                    Units limit = 100'000) {
    return limit - Ask(table, key, QuotaOf(algorithm, limit), 0, true).decision.remaining;
  }
  // `units` one by one, each at a moment of its own.
  void Use(Table& table, const std::string& key, Algorithm algorithm, int units,
           std::vector<HoldId>* holds = nullptr) {
    for (int i = 0; i < units; ++i) {
      clock_.Advance(Duration(1));
      const CheckAnswer answer = Ask(table, key, QuotaOf(algorithm, 100'000));
      ASSERT_TRUE(answer.charged);
      if (holds != nullptr) {
        holds->push_back(answer.hold);
      }
    }
  }
  static StoreError Release(Table& table, const std::string& text, HoldId hold) {
    const OwnedKey key(text);
    support::Answered<HoldCall> call;
    call.key = key.view();
    call.quota = QuotaOf(Algorithm::kConcurrency, 100'000);
    call.hold = hold;
    table.Release(call);
    return call.error;
  }

  const std::string folder_;
  support::ManualClock clock_;
};

TEST_F(TableSnapshotTest, AfterARebootEveryKeyIsAsTheSnapshotHasIt) {
  std::vector<HoldId> holds;
  {
    const auto table = Open();
    for (const Algorithm algorithm : kSnapshotted) {
      const bool held = algorithm == Algorithm::kConcurrency;
      ASSERT_NO_FATAL_FAILURE(Use(*table, "k", algorithm, 37, held ? &holds : nullptr));
    }
    const auto report = table->WriteSnapshot();
    ASSERT_TRUE(report.has_value()) << report.error().Text();
    EXPECT_EQ(report->keys, kSnapshotted.size());
    EXPECT_EQ(report->bytes, std::filesystem::file_size(Snapshot()));
    EXPECT_TRUE(Ask(*table, "later", QuotaOf(Algorithm::kGcra, 100'000)).charged);
  }
  Reboot();
  const auto table = Open();
  EXPECT_FALSE(table->resumed());
  EXPECT_EQ(table->opening().loaded_from, Snapshot());
  EXPECT_EQ(table->opening().keys, kSnapshotted.size());
  EXPECT_TRUE(table->opening().warnings.empty());
  for (const Algorithm algorithm : kSnapshotted) {
    EXPECT_EQ(Used(*table, "k", algorithm), 37) << core::NameOf(algorithm);
    EXPECT_EQ(Used(*table, "later", algorithm), 0);
  }
  for (const HoldId hold : holds) {
    EXPECT_EQ(Release(*table, "k", hold), StoreError::kNone);
    EXPECT_EQ(Release(*table, "k", hold), StoreError::kNotFound);
  }
  EXPECT_EQ(Used(*table, "k", Algorithm::kConcurrency), 0);
  clock_.Advance(std::chrono::hours(2));
  (void)table->Sweep();
  EXPECT_EQ(table->Stats().live_slots, 0U);
  EXPECT_EQ(table->Stats().blocks_in_use, 0U);
}

TEST_F(TableSnapshotTest, ALongLogComesBackWholeAndInOrder) {
  constexpr int kEntries = 3000;  // More blocks than are copied under one lock.
  {
    const auto table = Open();
    ASSERT_NO_FATAL_FAILURE(Use(*table, "k", Algorithm::kSlidingWindowLog, kEntries));
    ASSERT_TRUE(table->WriteSnapshot().has_value());
  }
  Reboot();
  const auto table = Open();
  EXPECT_EQ(Used(*table, "k", Algorithm::kSlidingWindowLog), kEntries);
  // An hour behind the first hundred, these alone are gone.
  clock_.Advance(std::chrono::hours(1) - Duration(kEntries - 100));
  EXPECT_EQ(Used(*table, "k", Algorithm::kSlidingWindowLog), kEntries - 100);
}

// A snapshot as a process of an earlier boot would have left it.
TEST_F(TableSnapshotTest, AfterARebootTimeGoesOnByTheWall) {
  {
    const auto table = Open();
    EXPECT_TRUE(Ask(*table, "k", QuotaOf(Algorithm::kGcra, 10), 10).charged);
    ASSERT_TRUE(table->WriteSnapshot().has_value());
  }
  {
    auto reader = SnapshotReader::Open(Snapshot());
    ASSERT_TRUE(reader.has_value());
    auto writer = SnapshotWriter::Create(Snapshot() + ".other", reader->head());
    ASSERT_TRUE(writer.has_value());
    ASSERT_TRUE(reader->ForEachKey(**writer).has_value());
    SnapshotTail tail = reader->tail();
    tail.boot_id[0] ^= 1;
    tail.rules = 0;
    ASSERT_TRUE((*writer)->Finish({}, tail).has_value());
  }
  std::filesystem::rename(Snapshot() + ".other", Snapshot());
  Reboot();
  clock_.StepBoot(-std::chrono::minutes(59));
  clock_.StepWallClock(std::chrono::minutes(18));
  EXPECT_EQ(Ask(*Open(), "k", QuotaOf(Algorithm::kGcra, 10), 0, true).decision.remaining, 3);
  Reboot();
  clock_.StepWallClock(-std::chrono::hours(30));
  EXPECT_EQ(Ask(*Open(), "k", QuotaOf(Algorithm::kGcra, 10), 0, true).decision.remaining, 0);
}

TEST_F(TableSnapshotTest, AFileThatIsThereIsNewerThanAnySnapshot) {
  {
    const auto table = Open();
    ASSERT_NO_FATAL_FAILURE(Use(*table, "k", Algorithm::kGcra, 3));
    ASSERT_TRUE(table->WriteSnapshot().has_value());
    ASSERT_NO_FATAL_FAILURE(Use(*table, "k", Algorithm::kGcra, 4));
  }
  const auto table = Open();
  EXPECT_TRUE(table->resumed());
  EXPECT_EQ(Used(*table, "k", Algorithm::kGcra), 7);
}

TEST_F(TableSnapshotTest, ABadSnapshotYieldsToThePreviousOneWithAWarning) {
  {
    const auto table = Open();
    ASSERT_NO_FATAL_FAILURE(Use(*table, "k", Algorithm::kSlidingWindowLog, 3));
    ASSERT_TRUE(table->WriteSnapshot().has_value());
    ASSERT_NO_FATAL_FAILURE(Use(*table, "k", Algorithm::kSlidingWindowLog, 4));
    ASSERT_TRUE(table->WriteSnapshot().has_value());
  }
  const std::string good = BytesOf(Snapshot());
  const std::string previous = BytesOf(Snapshot() + ".previous");
  std::mt19937 random(1);
  for (int i = 0; i < 24; ++i) {
    SCOPED_TRACE(i);
    Reboot();
    std::string bad = good;
    if (i % 2 == 0) {
      bad.resize(random() % good.size());
    } else {
      const std::size_t at = random() % bad.size();
      bad[at] = static_cast<char>(bad[at] ^ (1U << (random() % 8)));
    }
    Write(Snapshot(), bad);
    const auto table = Open();
    ASSERT_NE(table, nullptr);
    ASSERT_EQ(table->opening().warnings.size(), 1U);
    EXPECT_NE(table->opening().warnings[0].find(Snapshot()), std::string::npos);
    EXPECT_EQ(table->opening().loaded_from, Snapshot() + ".previous");
    EXPECT_EQ(Used(*table, "k", Algorithm::kSlidingWindowLog), 3);
  }
  // Where the previous one is bad too, the operator decides what is lost.
  Reboot();
  Write(Snapshot() + ".previous", previous.substr(0, previous.size() / 2));
  const std::string refusal = Refusal(Options());
  EXPECT_NE(refusal.find("truncated"), std::string::npos) << refusal;
  EXPECT_NE(refusal.find("remove"), std::string::npos) << refusal;
  // It is whole as soon as a good one is back.
  Write(Snapshot(), good);
  EXPECT_EQ(Used(*Open(), "k", Algorithm::kSlidingWindowLog), 7);
}

TEST_F(TableSnapshotTest, ForeignAndOtherFormatsSayWhatTheyAre) {
  Write(Snapshot(), "a letter to a friend");
  EXPECT_NE(Refusal(Options()).find("a snapshot of Sluice"), std::string::npos);
  std::filesystem::remove(Snapshot());
  Reboot();
  ASSERT_TRUE(Open()->WriteSnapshot().has_value());
  std::string other = BytesOf(Snapshot());
  other[8] = 99;
  Write(Snapshot(), other);
  Reboot();
  const std::string refusal = Refusal(Options());
  EXPECT_NE(refusal.find("format 99"), std::string::npos) << refusal;
  EXPECT_NE(refusal.find("start the Sluice that made it"), std::string::npos);
}

// A hold's priority comes back with it, by a snapshot and by a change of size.
TEST_F(TableSnapshotTest, EachHoldKeepsItsPriority) {
  core::Reserves reserves;
  reserves.Add("gold", 50);
  reserves.Add("silver", 50);
  const auto of = [&](std::string_view priority) {
    core::Quota quota = QuotaOf(Algorithm::kConcurrency, 10);
    quota.reserves = &reserves;
    quota.priority = reserves.TagOf(priority);
    return quota;
  };
  {
    const auto table = Open();
    EXPECT_TRUE(Ask(*table, "k", of("gold"), 4).decision.allowed);
    EXPECT_TRUE(table->WriteSnapshot().has_value());
  }
  Reboot();
  EXPECT_EQ(Ask(*Open(), "k", of("silver"), 0, true).decision.remaining, 5);
  const auto grown = Open(Options(2000, 2000));
  EXPECT_TRUE(grown->opening().resized);
  EXPECT_EQ(Ask(*grown, "k", of("silver"), 0, true).decision.remaining, 5);
  EXPECT_EQ(Ask(*grown, "k", of("gold"), 0, true).decision.remaining, 1);
}

TEST_F(TableSnapshotTest, ASnapshotOfFormat1IsLoaded) {
  {
    const auto table = Open();
    Use(*table, "k", Algorithm::kConcurrency, 3);
    Use(*table, "k", Algorithm::kSlidingWindowLog, 5);
    ASSERT_TRUE(table->WriteSnapshot().has_value());
  }
  std::string bytes = BytesOf(Snapshot());
  ASSERT_EQ(bytes[8], static_cast<char>(kSnapshotVersion));
  bytes[8] = 1;
  SnapshotSum sum;
  const std::size_t end = bytes.size() - sizeof(SnapshotTail::checksum);
  sum.Add(std::as_bytes(std::span(bytes.data(), end)));
  const auto checksum = sum.Value();
  std::memcpy(bytes.data() + end, checksum.data(), sizeof(checksum));
  Write(Snapshot(), bytes);
  Reboot();
  const auto table = Open();
  EXPECT_TRUE(table->opening().warnings.empty());
  EXPECT_EQ(Used(*table, "k", Algorithm::kConcurrency), 3);
  EXPECT_EQ(Used(*table, "k", Algorithm::kSlidingWindowLog), 5);
}

TEST_F(TableSnapshotTest, ASnapshotLoadsIntoATableOfAnotherSize) {
  {
    const auto table = Open();
    for (int i = 0; i < 600; ++i) {
      ASSERT_NO_FATAL_FAILURE(Use(*table, std::to_string(i), Algorithm::kGcra, 1 + i % 3));
    }
    ASSERT_TRUE(table->WriteSnapshot().has_value());
  }
  for (const std::uint64_t keys : {700, 5000}) {
    Reboot();
    const auto table = Open(Options(keys));
    ASSERT_NE(table, nullptr);
    for (int i = 0; i < 600; ++i) {
      ASSERT_EQ(Used(*table, std::to_string(i), Algorithm::kGcra), 1 + i % 3) << i;
    }
  }
  Reboot();
  EXPECT_NE(Refusal(Options(10)).find("raise table.keys"), std::string::npos);
}

TEST_F(TableSnapshotTest, AChangedSizeMovesEveryKey) {
  constexpr int kKeys = 800;
  constexpr int kStep = static_cast<int>(kSnapshotted.size());
  constexpr int kFirstHeld = 7;
  static_assert(kSnapshotted[kFirstHeld] == Algorithm::kConcurrency);
  std::vector<HoldId> holds;
  {
    const auto table = Open(Options(1000, 2000));
    for (int i = 0; i < kKeys; ++i) {
      const Algorithm algorithm = kSnapshotted[static_cast<std::size_t>(i) % kSnapshotted.size()];
      const bool held = algorithm == Algorithm::kConcurrency;
      ASSERT_NO_FATAL_FAILURE(
          Use(*table, std::to_string(i), algorithm, 1 + i % 10, held ? &holds : nullptr));
    }
  }
  int round = 0;
  for (const auto& [keys, blocks] : {std::pair{1000, 450}, {5000, 5000}, {850, 2000}, {900, 500}}) {
    SCOPED_TRACE(keys);
    const auto table =
        Open(Options(static_cast<std::uint64_t>(keys), static_cast<std::uint64_t>(blocks)));
    ASSERT_NE(table, nullptr);
    EXPECT_TRUE(table->resumed());
    EXPECT_TRUE(table->opening().resized);
    EXPECT_EQ(table->opening().keys, static_cast<std::uint64_t>(kKeys));
    EXPECT_FALSE(std::filesystem::exists(Path() + ".new"));
    for (int i = 0; i < kKeys; ++i) {
      const Algorithm algorithm = kSnapshotted[static_cast<std::size_t>(i) % kSnapshotted.size()];
      const bool released = algorithm == Algorithm::kConcurrency && i < round * kStep;
      ASSERT_EQ(Used(*table, std::to_string(i), algorithm), 1 + i % 10 - (released ? 1 : 0)) << i;
    }
    // One key's first hold is given back in each size.
    std::size_t first = 0;
    for (int i = kFirstHeld; i < round * kStep; i += kStep) {
      first += static_cast<std::size_t>(1 + i % 10);
    }
    EXPECT_EQ(Release(*table, std::to_string(round * kStep + kFirstHeld), holds[first]),
              StoreError::kNone);
    EXPECT_EQ(Release(*table, std::to_string(round * kStep + kFirstHeld), holds[first]),
              StoreError::kNotFound);
    ++round;
  }
  EXPECT_NE(Refusal(Options(100, 500)).find("raise table.keys"), std::string::npos);
  EXPECT_NE(Refusal(Options(900, 100)).find("raise table.blocks"), std::string::npos);
  // A refusal loses nothing.
  EXPECT_EQ(Used(*Open(Options(900, 500)), "0", kSnapshotted[0]), 1);
}

// Keys of which each is asked by one thread, one unit at a time, while snapshots are written:
// what a snapshot has of a key lies between what had been answered before it and after it.
TEST_F(TableSnapshotTest, ASnapshotStopsNobodyAndHasEachKeyWhole) {
  constexpr std::size_t kThreads = 4;
  std::array<std::array<std::atomic<int>, kSnapshotted.size()>, kThreads> asked{};
  std::atomic<bool> stop{false};
  const auto table = Open(Options(1000, 40'000));
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 20'000 && !stop; ++i) {
        const std::size_t a = static_cast<std::size_t>(i) % kSnapshotted.size();
        if (kSnapshotted[a] != Algorithm::kConcurrency || i < 2000) {
          clock_.Advance(Duration(1));
          (void)Ask(*table, std::to_string(t), QuotaOf(kSnapshotted[a], 1'000'000));
          ++asked[t][a];
        }
      }
    });
  }
  for (int round = 0; round < 12; ++round) {
    std::array<std::array<int, kSnapshotted.size()>, kThreads> before{};
    for (std::size_t t = 0; t < kThreads; ++t) {
      std::ranges::copy(asked[t], before[t].begin());
    }
    ASSERT_TRUE(table->WriteSnapshot().has_value());
    TableOptions elsewhere = Options(1000, 40'000);
    elsewhere.path = "";
    const auto copy = Open(elsewhere);
    for (std::size_t t = 0; t < kThreads; ++t) {
      for (std::size_t a = 0; a < kSnapshotted.size(); ++a) {
        const Units used = Used(*copy, std::to_string(t), kSnapshotted[a], 1'000'000);
        EXPECT_GE(used, before[t][a]) << core::NameOf(kSnapshotted[a]);
        EXPECT_LE(used, asked[t][a] + 1) << core::NameOf(kSnapshotted[a]);
      }
    }
  }
  stop = true;
  for (std::thread& thread : threads) {
    thread.join();
  }
}

TEST_F(TableSnapshotTest, WhereItCannotBeWrittenTheLastGoodOneStays) {
  const auto table = Open();
  ASSERT_NO_FATAL_FAILURE(Use(*table, "k", Algorithm::kSlidingWindowLog, 500));
  ASSERT_TRUE(table->WriteSnapshot().has_value());
  const std::string good = BytesOf(Snapshot());
  // As full as a disk: no file may grow past this.
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  rlimit little = before;
  little.rlim_cur = 4096;
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &little), 0);
  const auto failed = table->WriteSnapshot();
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  ASSERT_FALSE(failed.has_value());
  EXPECT_NE(failed.error().Text().find("cannot be written"), std::string::npos);
  EXPECT_EQ(BytesOf(Snapshot()), good);
  EXPECT_FALSE(std::filesystem::exists(Snapshot() + ".new"));
  EXPECT_TRUE(Ask(*table, "k", QuotaOf(Algorithm::kGcra, 10)).charged);
  EXPECT_TRUE(table->WriteSnapshot().has_value());

  TableOptions nowhere = Options();
  nowhere.path = "";
  nowhere.snapshot = folder_ + "/no/such/folder/snapshot";
  const auto failed_too = Open(nowhere)->WriteSnapshot();
  ASSERT_FALSE(failed_too.has_value());
  EXPECT_NE(failed_too.error().Text().find("table.snapshots"), std::string::npos);
}

TEST_F(TableSnapshotTest, AFolderThatMayNotBeWrittenStopsTheSnapshotAndNotTheDecisions) {
  const auto table = Open();
  ASSERT_NO_FATAL_FAILURE(Use(*table, "k", Algorithm::kGcra, 3));
  ASSERT_EQ(chmod(folder_.c_str(), 0555), 0);
  // Root may write anywhere: ask as nobody does.
  const bool root = geteuid() == 0;
  if (root) {
    ASSERT_EQ(seteuid(65534), 0);
  }
  const auto failed = table->WriteSnapshot();
  const bool charged = Ask(*table, "k", QuotaOf(Algorithm::kGcra, 10)).charged;
  if (root) {
    ASSERT_EQ(seteuid(0), 0);
  }
  ASSERT_EQ(chmod(folder_.c_str(), 0700), 0);
  ASSERT_FALSE(failed.has_value());
  EXPECT_NE(failed.error().Text().find("Permission denied"), std::string::npos)
      << failed.error().Text();
  EXPECT_NE(failed.error().Text().find("table.snapshots"), std::string::npos)
      << failed.error().Text();
  EXPECT_TRUE(charged);
  EXPECT_TRUE(table->WriteSnapshot().has_value());
}

}  // namespace
}  // namespace sluice::store
