#include "records/decision_log.h"

#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include "support/temporary_folder.h"

namespace sluice::records {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class DecisionLogTest : public testing::Test {
 protected:
  void Open(std::uint64_t max_bytes, std::uint32_t keep) {
    auto opened = DecisionLog::Open(
        {.path = path_,
         .max_bytes = max_bytes,
         .keep = keep,
         .on_trouble = [this](const std::string& trouble) { troubles_.push_back(trouble); }});
    ASSERT_TRUE(opened.has_value()) << opened.error().Text();
    log_ = *std::move(opened);
  }
  static std::string TextOf(const std::string& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  support::TemporaryFolder folder_;
  const std::string path_ = folder_.path() / "decisions.log";
  std::vector<std::string> troubles_;
  std::unique_ptr<DecisionLog> log_;
};

TEST_F(DecisionLogTest, AppendsToWhatIsThere) {
  Open(1000, 2);
  log_->Write("a\nb\n");
  Open(1000, 2);
  log_->Write("c\n");
  EXPECT_EQ(TextOf(path_), "a\nb\nc\n");
  EXPECT_EQ(log_->written(), 1U);
  EXPECT_TRUE(troubles_.empty());
}

TEST_F(DecisionLogTest, IsNoLongerThanItsBoundAndKeepsSoManyFiles) {
  Open(10, 2);
  for (const char* line : {"11111\n", "22222\n", "33333\n", "44444\n"}) {
    log_->Write(line);
  }
  EXPECT_EQ(TextOf(path_), "44444\n");
  EXPECT_EQ(TextOf(path_ + ".1"), "33333\n");
  EXPECT_EQ(TextOf(path_ + ".2"), "22222\n");
  EXPECT_FALSE(std::filesystem::exists(path_ + ".3"));
  EXPECT_EQ(log_->rotations(), 3U);
}

TEST_F(DecisionLogTest, MoreLinesThanAFileHasRoomForGoIntoSeveral) {
  Open(14, 9);
  log_->Write("11111\n22222\n33333\n444444444444444444\n55555\n");
  EXPECT_EQ(TextOf(path_), "55555\n");
  EXPECT_EQ(TextOf(path_ + ".1"), "444444444444444444\n");  // A line stays whole.
  EXPECT_EQ(TextOf(path_ + ".2"), "33333\n");
  EXPECT_EQ(TextOf(path_ + ".3"), "11111\n22222\n");
  EXPECT_EQ(log_->written(), 5U);
}

TEST_F(DecisionLogTest, WithNoneKeptTheOldFileGoes) {
  Open(10, 0);
  log_->Write("11111\n");
  log_->Write("22222\n");
  EXPECT_EQ(TextOf(path_), "22222\n");
  EXPECT_FALSE(std::filesystem::exists(path_ + ".1"));
}

TEST_F(DecisionLogTest, FollowsAFileThatWasMovedAwayOnceToldTo) {
  Open(1000, 2);
  log_->Write("a\n");
  std::filesystem::rename(path_, path_ + ".moved");
  log_->Write("b\n");
  EXPECT_EQ(TextOf(path_ + ".moved"), "a\nb\n");
  log_->Reopen();
  log_->Write("c\n");
  EXPECT_EQ(TextOf(path_), "c\n");
}

TEST_F(DecisionLogTest, AFullDiskIsSaidOnceAndLeavesNoHalfLine) {
  Open(1000, 2);
  log_->Write("first\n");
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit small{.rlim_cur = 8, .rlim_max = before.rlim_max};
  const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  log_->Write("second\n");
  log_->Write("third\n");
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  (void)std::signal(SIGXFSZ, old_handler);
  EXPECT_EQ(TextOf(path_), "first\n");
  EXPECT_THAT(troubles_, ElementsAre(HasSubstr("cannot write " + path_)));
  EXPECT_EQ(log_->failed(), 2U);
  log_->Write("fourth\n");
  EXPECT_EQ(TextOf(path_), "first\nfourth\n");
  EXPECT_THAT(troubles_, ElementsAre(HasSubstr("cannot write"), ""));
}

TEST_F(DecisionLogTest, WithoutItsFolderItDoesNotOpen) {
  const auto opened = DecisionLog::Open({.path = path_ + "/none/decisions.log"});
  ASSERT_FALSE(opened.has_value());
  EXPECT_THAT(opened.error().Text(), HasSubstr("cannot open " + path_));
}

}  // namespace
}  // namespace sluice::records
