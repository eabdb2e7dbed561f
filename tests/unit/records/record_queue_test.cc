#include "insight/record_queue.h"

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/counted_new.h"
#include "unit/records/made_request.h"

namespace sluice::records {
namespace {

using insight::RecordQueue;

constexpr std::size_t kBytes = std::size_t{256} * 1024;

// The users and uses of what the queue has.
std::vector<std::string> Collected(RecordQueue& queue) {
  std::vector<std::string> users;
  insight::KeptRequest kept;
  queue.Collect([&](std::string_view bytes) {
    insight::DecodeRequest(bytes, kept);
    users.emplace_back(kept.decisions[0].parts[0].value);
  });
  return users;
}

std::size_t CountAfter(RecordQueue& queue, MadeRequest& made, int times) {
  for (int i = 0; i < times; ++i) {
    queue.Add(made.Record());
  }
  return Collected(queue).size();
}

TEST(RecordQueueTest, KeepsNothingBeforeItIsOpen) {
  RecordQueue queue;
  MadeRequest made("api", "a", false);
  EXPECT_EQ(CountAfter(queue, made, 3), 0U);
}

TEST(RecordQueueTest, HandsOutWhatItKeptInOrder) {
  RecordQueue queue;
  queue.Open(kBytes, /*history=*/true, {});
  for (const char* user : {"a", "b", "c"}) {
    queue.Add(MadeRequest("api", user, true).Record());
  }
  EXPECT_THAT(Collected(queue), testing::ElementsAre("a", "b", "c"));
  EXPECT_THAT(Collected(queue), testing::ElementsAre());
}

TEST(RecordQueueTest, OfAFloodAnIntervalHasTheFirst) {
  RecordQueue queue;
  queue.Open(kBytes, /*history=*/true, {});
  MadeRequest allowed("api", "a", true);
  MadeRequest loud("api", "loud", false);
  EXPECT_EQ(CountAfter(queue, allowed, 1'000), RecordQueue::kAllowedPerInterval);
  EXPECT_EQ(CountAfter(queue, loud, 1'000), RecordQueue::kDeniedPerKey);
  MadeRequest quiet("api", "quiet", false);
  EXPECT_EQ(CountAfter(queue, quiet, 1), 1U);
  queue.Refill();
  EXPECT_EQ(CountAfter(queue, loud, 1'000), RecordQueue::kDeniedPerKey);
}

TEST(RecordQueueTest, AFloodOfOneRulesKeysLeavesRoomForOtherRules) {
  RecordQueue queue;
  queue.Open(kBytes, /*history=*/true, {});
  for (int i = 0; i < 1'000; ++i) {
    queue.Add(MadeRequest("api", "user" + std::to_string(i), false).Record());
  }
  EXPECT_EQ(Collected(queue).size(), RecordQueue::kDeniedPerRule);
  MadeRequest other("other", "a", false);
  EXPECT_EQ(CountAfter(queue, other, 1), 1U);
}

TEST(RecordQueueTest, TheLogsSharesAreThoseOfAllRequests) {
  RecordQueue all;
  all.Open(4 * kBytes, /*history=*/false, {.allowed = 1, .denied = 1});
  MadeRequest allowed("api", "a", true);
  MadeRequest denied("api", "a", false);
  EXPECT_EQ(CountAfter(all, allowed, 1'000), 1'000U);
  EXPECT_EQ(CountAfter(all, denied, 1'000), 1'000U);
  RecordQueue some;
  some.Open(4 * kBytes, /*history=*/false, {.allowed = 0.25, .denied = 0});
  const std::size_t drawn = CountAfter(some, allowed, 4'000);
  EXPECT_GT(drawn, 800U);  // 1,000 is expected, 27 its standard deviation.
  EXPECT_LT(drawn, 1'200U);
  EXPECT_EQ(CountAfter(some, denied, 1'000), 0U);
}

TEST(RecordQueueTest, AFullQueueDropsAndCounts) {
  RecordQueue queue;
  queue.Open(kBytes, /*history=*/false, {.allowed = 1, .denied = 1});
  MadeRequest made("api", std::string(1'000, 'x'), true);
  const std::size_t kept = CountAfter(queue, made, 1'000);
  EXPECT_LT(kept, 262U);
  EXPECT_EQ(queue.dropped(), 1'000 - kept);
  EXPECT_EQ(CountAfter(queue, made, 5), 5U);  // There is room again, wherever the ring is cut.
}

TEST(RecordQueueTest, KeepingAllocatesNothing) {
  RecordQueue queue;
  queue.Open(kBytes, /*history=*/true, {.allowed = 1, .denied = 1});
  MadeRequest made("api", "a", false);
  queue.Add(made.Record());
  const std::int64_t before = support::AllocationsOfThisThread();
  for (int i = 0; i < 100; ++i) {
    queue.Add(made.Record());
  }
  EXPECT_EQ(support::AllocationsOfThisThread(), before);
}

// For ThreadSanitizer too. More threads than parts of the queue, so that some share one.
TEST(RecordQueueTest, ThreadsAddWhileOneCollects) {
  constexpr int kThreads = 24;
  constexpr int kEach = 500;
  RecordQueue queue;
  queue.Open(4 * kBytes, /*history=*/true, {.allowed = 1, .denied = 1});
  std::atomic<int> running{kThreads};
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&queue, &running, thread] {
      MadeRequest made("api", "user" + std::to_string(thread), thread % 2 == 0);
      for (int i = 0; i < kEach; ++i) {
        queue.Add(made.Record());
      }
      --running;
    });
  }
  std::size_t collected = 0;
  while (running != 0) {
    collected += Collected(queue).size();
    queue.Refill();
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  collected += Collected(queue).size();
  EXPECT_EQ(collected + queue.dropped(), std::size_t{kThreads} * kEach);
}

}  // namespace
}  // namespace sluice::records
