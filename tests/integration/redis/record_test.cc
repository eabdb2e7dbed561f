#include <array>
#include <chrono>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "support/redis_store_fixture.h"
#include "support/store_calls.h"

// What nodes that share a server know of each other's answers.
namespace sluice::redis {
namespace {

using store::RecordCall;
using store::StoreError;
using support::LoopedRedisStore;
using support::RedisServer;
using Found = RecordCall::Found;

class RedisRecordTest : public ::testing::Test {
 protected:
  RedisRecordTest() {
    for (auto& node : nodes_) {
      node = std::make_unique<LoopedRedisStore>(support::PatientSettings(server_), clock_);
      node->RunUntilUp();
    }
  }

  Found Claim(std::size_t node, const std::string& body) {
    return Run(node, &RedisStore::Claim, body, std::chrono::seconds(15));
  }
  void Keep(std::size_t node, const std::string& body, const std::string& answer) {
    call_.answer = answer;
    (void)Run(node, &RedisStore::Keep, body, std::chrono::hours(24));
  }
  void Drop(std::size_t node, const std::string& body) {
    (void)Run(node, &RedisStore::Drop, body, std::chrono::seconds(15));
  }
  Found Run(std::size_t node, void (RedisStore::*verb)(RecordCall&), const std::string& body,
            Duration lasts) {
    call_.name = "00ff00ff00ff00ff00ff00ff00ff00ff";
    call_.body = body;
    call_.owner = ~std::uint64_t{0} - node;
    call_.lasts = lasts;
    (nodes_[node]->store().*verb)(call_);
    nodes_[node]->RunUntilIdle();
    EXPECT_EQ(call_.error, StoreError::kNone) << nodes_[node]->events();
    return call_.found;
  }

  base::SystemClock clock_;
  RedisServer server_;
  std::array<std::unique_ptr<LoopedRedisStore>, 2> nodes_;
  support::Answered<RecordCall> call_;
};

TEST_F(RedisRecordTest, OneNodeAnswersAndTheOthersGetWhatItSaid) {
  EXPECT_EQ(Claim(0, "aa"), Found::kOurs);
  EXPECT_EQ(Claim(1, "aa"), Found::kPending);
  EXPECT_EQ(Claim(1, "bb"), Found::kOther);
  EXPECT_EQ(Claim(0, "aa"), Found::kOurs);  // Its own claim is nobody else's.
  const std::string key = server_.Run({"KEYS", "*"});
  EXPECT_EQ(key, "sl1:{00ff00ff00ff00ff00ff00ff00ff00ff}:answer");
  EXPECT_LE(std::stol(server_.Run({"PTTL", key})), 15'000);
  const std::string answer("3:a = b\r\n\0 and all bytes \xff", 26);
  Keep(1, "aa", "not its own to keep");
  Keep(0, "aa", answer);
  EXPECT_GT(std::stol(server_.Run({"PTTL", key})), 24 * 3'600'000 - 60'000);
  for (const std::size_t node : {0, 1}) {
    EXPECT_EQ(Claim(node, "aa"), Found::kAnswered);
    EXPECT_EQ(call_.answer, answer);
    EXPECT_EQ(Claim(node, "bb"), Found::kOther);
    Drop(node, "aa");  // What is answered stays so.
  }
  EXPECT_EQ(Claim(1, "aa"), Found::kAnswered);
}

TEST_F(RedisRecordTest, WhatIsGivenUpIsTheNextOnes) {
  EXPECT_EQ(Claim(0, "aa"), Found::kOurs);
  Drop(1, "aa");
  EXPECT_EQ(Claim(1, "aa"), Found::kPending);
  Drop(0, "aa");
  EXPECT_EQ(Claim(1, "cc"), Found::kOurs);
  server_.Run({"DEL", server_.Run({"KEYS", "*"})});  // As if its time were over.
  Keep(1, "cc", "late");
  EXPECT_EQ(Claim(0, "cc"), Found::kAnswered);
  EXPECT_EQ(call_.answer, "late");
}

}  // namespace
}  // namespace sluice::redis
