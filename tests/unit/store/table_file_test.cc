#include <array>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "store/table.h"
#include "support/manual_clock.h"
#include "support/store_calls.h"

namespace sluice::store {
namespace {

using core::Algorithm;
using support::OwnedCheckCall;
using support::OwnedKey;
using support::QuotaOf;

class TableFileTest : public ::testing::Test {
 protected:
  TableFileTest()
      : path_("/dev/shm/sluice_table_" + std::to_string(getpid()) + "_" +
              ::testing::UnitTest::GetInstance()->current_test_info()->name()) {
    std::filesystem::remove(path_);
  }
  ~TableFileTest() override { std::filesystem::remove(path_); }

  [[nodiscard]] TableOptions Options(std::uint64_t keys = 1000) const {
    return {.path = path_, .keys = keys, .blocks = 1000, .huge_pages = false};
  }
  std::unique_ptr<Table> Open() { return std::move(*Table::Create(Options(), clock_)); }
  CheckAnswer Ask(Table& table, Algorithm algorithm, Units limit, Units cost, bool peek = false) {
    const OwnedKey key("k");
    OwnedCheckCall call;
    call.peek = peek;
    call.Add({.key = key.view(), .quota = QuotaOf(algorithm, limit), .cost = Cost{cost}});
    const std::array<CheckCall*, 1> batch{&call};
    table.CheckMany(batch);
    return call.own_answers[0];
  }
  // What a process says that needs the file now.
  [[nodiscard]] std::string Refusal(const TableOptions& options) {
    const auto table = Table::Create(options, clock_);
    return table.has_value() ? "" : table.error().Text();
  }

  std::string path_;
  support::ManualClock clock_;
};

TEST_F(TableFileTest, TheNextProcessFindsEveryKeyAsItWas) {
  {
    const auto table = Open();
    EXPECT_FALSE(table->resumed());
    for (const Algorithm algorithm : core::kAllAlgorithms) {
      for (int i = 0; i < 20; ++i) {
        clock_.Advance(Duration(1));
        EXPECT_TRUE(Ask(*table, algorithm, 1000, 1).charged);
      }
    }
  }
  const auto table = Open();
  EXPECT_TRUE(table->resumed());
  EXPECT_EQ(table->Stats().blocks_in_use, 3U + 1U + 5U);
  for (const Algorithm algorithm : core::kAllAlgorithms) {
    EXPECT_EQ(Ask(*table, algorithm, 1000, 0, true).decision.remaining, 980)
        << core::NameOf(algorithm);
    EXPECT_EQ(Ask(*table, algorithm, 1000, 1).decision.remaining, 979);
  }
}

TEST_F(TableFileTest, TimeThatPassedBetweenTwoProcessesCounts) {
  EXPECT_TRUE(Ask(*Open(), Algorithm::kGcra, 10, 10).charged);
  clock_.Advance(std::chrono::minutes(6));
  clock_.StepWallClock(-std::chrono::hours(100));
  EXPECT_EQ(Ask(*Open(), Algorithm::kGcra, 10, 0, true).decision.remaining, 1);
}

TEST_F(TableFileTest, ASecondOpenerIsToldWhoseItIs) {
  const auto table = Open();
  EXPECT_NE(Refusal(Options()).find("another running process"), std::string::npos);
}

TEST_F(TableFileTest, ForeignFilesAreRefusedUnchanged) {
  (void)Open();
  TableOptions same_size = Options();
  EXPECT_EQ(Refusal(same_size), "");
  const auto size = std::filesystem::file_size(path_);
  {
    std::fstream file(path_, std::ios::in | std::ios::out | std::ios::binary);
    file << "NOTATABL";
  }
  EXPECT_NE(Refusal(Options()).find("a table of Sluice"), std::string::npos);
  EXPECT_EQ(std::filesystem::file_size(path_), size);
  {
    std::ofstream file(path_);
    file << "a letter to a friend";
  }
  EXPECT_NE(Refusal(Options()).find("remove the file"), std::string::npos);
  EXPECT_EQ(std::filesystem::file_size(path_), 20U);
}

TEST_F(TableFileTest, AnotherFormatVersionIsRefused) {
  (void)Open();
  {
    std::fstream file(path_, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(8);
    file.put(99);
  }
  EXPECT_NE(Refusal(Options()).find("format 99"), std::string::npos);
}

// Format 1 had the same parts, with no priority in its holds.
TEST_F(TableFileTest, ATableOfFormat1IsTakenOverWithAllThatItHas) {
  {
    const auto table = Open();
    EXPECT_EQ(Ask(*table, Algorithm::kConcurrency, 10, 3).decision.remaining, 7);
    EXPECT_EQ(Ask(*table, Algorithm::kSlidingWindowLog, 10, 4).decision.remaining, 6);
    EXPECT_EQ(Ask(*table, Algorithm::kGcra, 10, 5).decision.remaining, 5);
  }
  {
    std::fstream file(path_, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(8);
    file.put(1);
  }
  {
    const auto table = Open();
    EXPECT_TRUE(table->resumed());
    EXPECT_EQ(Ask(*table, Algorithm::kConcurrency, 10, 0).decision.remaining, 7);
    EXPECT_EQ(Ask(*table, Algorithm::kSlidingWindowLog, 10, 0).decision.remaining, 6);
    EXPECT_EQ(Ask(*table, Algorithm::kGcra, 10, 0).decision.remaining, 5);
  }
  std::ifstream file(path_, std::ios::binary);
  file.seekg(8);
  EXPECT_EQ(file.get(), static_cast<int>(kTableVersion));
}

TEST_F(TableFileTest, AFileOfAnotherUserIsRefusedWithBothUsersNamed) {
  if (geteuid() != 0) {
    GTEST_SKIP() << "only root can give a file to another user";
  }
  Open().reset();
  ASSERT_EQ(chown(path_.c_str(), 1, 1), 0);
  const std::string refusal = Refusal(Options());
  EXPECT_NE(refusal.find("belongs to user 1, and this is user 0"), std::string::npos) << refusal;
  EXPECT_NE(refusal.find("table.path"), std::string::npos) << refusal;
  ASSERT_EQ(chown(path_.c_str(), 0, 0), 0);
  EXPECT_TRUE(Open()->resumed());
}

TEST_F(TableFileTest, AFolderThatMayNotBeWrittenIsRefusedWithTheRemedy) {
  std::filesystem::create_directory(path_);
  ASSERT_EQ(chmod(path_.c_str(), 0555), 0);
  TableOptions options = Options();
  options.path = path_ + "/table";
  // Root may write anywhere: ask as nobody does.
  const bool root = geteuid() == 0;
  if (root) {
    ASSERT_EQ(seteuid(65534), 0);
  }
  const std::string refusal = Refusal(options);
  if (root) {
    ASSERT_EQ(seteuid(0), 0);
  }
  EXPECT_NE(refusal.find("Permission denied"), std::string::npos) << refusal;
  EXPECT_NE(refusal.find("another table.path"), std::string::npos) << refusal;
}

TEST_F(TableFileTest, NoRoomIsAnErrorAndNotACrash) {
  TableOptions options = Options(kMostKeys);
  options.path = "/proc/self/nowhere";
  EXPECT_NE(Refusal(options), "");
  EXPECT_NE(Refusal({.path = "", .keys = 0}), "");
  EXPECT_NE(Refusal({.path = "", .keys = kMostKeys + 1}), "");
}

// A child decides as fast as it can and notes each request in shared memory, before and
// after; it is killed at any instruction. Whoever opens the file next finds every answered
// request, at most one more (of which the answer never left), and each of them whole: three
// keys under three algorithms move together.
TEST_F(TableFileTest, AKilledProcessLeavesWholeRequestsOnly) {
  struct Notes {
    std::atomic<std::int64_t> begun{0};
    std::atomic<std::int64_t> answered{0};
  };
  auto* notes =
      new (mmap(nullptr, sizeof(Notes), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0))
          Notes;
  constexpr Units kLimit = 100'000'000;
  const std::array quotas{
      QuotaOf(Algorithm::kGcra, kLimit), QuotaOf(Algorithm::kFixedWindow, kLimit),
      QuotaOf(Algorithm::kSlidingWindowLog, kLimit), QuotaOf(Algorithm::kSlidingWindow, kLimit)};
  const OwnedKey key("k");
  for (int kill_number = 0; kill_number < 20; ++kill_number) {
    const std::int64_t begun_before = notes->begun;
    const pid_t child = fork();
    if (child == 0) {
      const auto table = Open();
      OwnedCheckCall call;
      for (const core::Quota& quota : quotas) {
        call.Add({.key = key.view(), .quota = quota, .cost = {}});
      }
      const std::array<CheckCall*, 1> batch{&call};
      for (;;) {
        if (notes->begun % 16 == 0) {
          clock_.Advance(Duration(1));
        }
        ++notes->begun;
        table->CheckMany(batch);
        ++notes->answered;
      }
    }
    while (notes->begun < begun_before + 500 + kill_number * 37) {
    }
    kill(child, SIGKILL);
    int status = 0;
    waitpid(child, &status, 0);
    clock_.Advance(std::chrono::milliseconds(1));
    const auto table = Open();
    std::array<Units, quotas.size()> used{};
    for (std::size_t i = 0; i < quotas.size(); ++i) {
      used[i] = kLimit - Ask(*table, quotas[i].algorithm, kLimit, 0, true).decision.remaining;
      // The bucket gives back while time passes: a hundred million an hour, 28 a millisecond.
      if (i > 0) {
        EXPECT_EQ(used[i], used[1]) << core::NameOf(quotas[i].algorithm);
      }
    }
    EXPECT_GE(used[1], notes->answered);
    EXPECT_LE(used[1], notes->begun);
    notes->answered = used[1];
    notes->begun = used[1];
  }
  munmap(notes, sizeof(Notes));
}

}  // namespace
}  // namespace sluice::store
