#include "base/request_id.h"

#include <array>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sluice::base {
namespace {

TEST(RequestIdTest, OursHas32HexDigitsAndStaysTheSame) {
  RequestId id;
  const std::string first(id.View());
  EXPECT_THAT(first, testing::MatchesRegex("[0-9a-f]{32}"));
  EXPECT_EQ(id.View(), first);
  EXPECT_FALSE(id.is_wanted());
}

TEST(RequestIdTest, OursAreDifferentInAllThreads) {
  std::mutex mutex;
  std::set<std::string> seen;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&] {
      for (int i = 0; i < 1000; ++i) {
        RequestId id;
        const std::lock_guard lock(mutex);
        seen.emplace(id.View());
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(seen.size(), 4000U);
}

TEST(RequestIdTest, AClientsIsTaken) {
  for (const std::string& text :
       {std::string("a"), std::string("9f86d081-884c-4d65-9a2f-eaa0c55ad015"),
        std::string("Root=1-67891233-abcdef"), std::string("req_AZ09.:+/@"),
        std::string(RequestId::kMostBytes, 'x')}) {
    RequestId id;
    id.Take(text);
    EXPECT_EQ(id.View(), text);
    EXPECT_TRUE(id.is_wanted());
  }
}

TEST(RequestIdTest, OneThatCouldDoHarmIsReplaced) {
  std::vector<std::string> harmful{"", std::string(RequestId::kMostBytes + 1, 'x')};
  for (int byte = 0; byte < 256; ++byte) {
    const char c = static_cast<char>(byte);
    if (std::string_view("-_.:=+/@").find(c) == std::string_view::npos && !(c >= '0' && c <= '9') &&
        !(c >= 'A' && c <= 'Z') && !(c >= 'a' && c <= 'z')) {
      harmful.push_back(std::string("x") + c);
    }
  }
  EXPECT_EQ(harmful.size(), 2U + 256U - 62U - 8U);
  for (const std::string& text : harmful) {
    RequestId id;
    id.Take(text);
    EXPECT_THAT(std::string(id.View()), testing::MatchesRegex("[0-9a-f]{32}"));
    EXPECT_TRUE(id.is_wanted());
  }
}

TEST(RequestIdTest, IsUsedAgainForAnotherRequest) {
  RequestId id;
  id.Take("theirs");
  id.Clear();
  EXPECT_FALSE(id.is_wanted());
  EXPECT_NE(id.View(), "theirs");
}

}  // namespace
}  // namespace sluice::base
