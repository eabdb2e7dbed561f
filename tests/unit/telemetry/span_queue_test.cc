#include "telemetry/span_queue.h"

#include <set>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace sluice::telemetry {
namespace {

Span Named(const std::string& name) {
  Span span;
  span.rule = name;
  return span;
}

std::vector<std::string> Names(SpanQueue& queue, std::size_t most) {
  std::vector<Span> spans;
  queue.Take(most, spans);
  std::vector<std::string> names;
  for (const Span& span : spans) {
    names.emplace_back(span.rule.view());
  }
  return names;
}

TEST(SpanQueueTest, GivesSpansInTheOrderOfPushing) {
  SpanQueue queue(4);
  for (int round = 0; round < 3; ++round) {
    queue.Push(Named("a"));
    queue.Push(Named("b"));
    queue.Push(Named("c"));
    EXPECT_EQ(Names(queue, 2), (std::vector<std::string>{"a", "b"}));
    EXPECT_EQ(Names(queue, 9), std::vector<std::string>{"c"});
    EXPECT_TRUE(Names(queue, 9).empty());
  }
  EXPECT_EQ(queue.dropped(), 0U);
}

TEST(SpanQueueTest, DropsAndCountsWhatDoesNotFit) {
  SpanQueue queue(3);  // Four by its rounding.
  for (int i = 0; i < 6; ++i) {
    queue.Push(Named(std::to_string(i)));
  }
  EXPECT_EQ(queue.dropped(), 2U);
  EXPECT_EQ(Names(queue, 9), (std::vector<std::string>{"0", "1", "2", "3"}));
  queue.Push(Named("6"));
  EXPECT_EQ(Names(queue, 9), std::vector<std::string>{"6"});
}

TEST(SpanQueueTest, CutsLongTexts) {
  SpanQueue queue(1);
  queue.Push(Named(std::string(1'000, 'x')));
  EXPECT_EQ(Names(queue, 1), std::vector<std::string>{std::string(128, 'x')});
}

// Every span arrives once, whole, or is counted as dropped.
TEST(SpanQueueTest, ManyThreadsPushWhileOneTakes) {
  constexpr int kThreads = 4;
  constexpr int kEach = 20'000;
  SpanQueue queue(64);
  std::atomic<int> running{kThreads};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&queue, &running, t] {
      for (int i = 0; i < kEach; ++i) {
        queue.Push(Named(std::to_string(t) + "/" + std::to_string(i)));
      }
      --running;
    });
  }
  std::set<std::string> seen;
  std::size_t taken = 0;
  const auto take = [&] {
    for (const std::string& name : Names(queue, 16)) {
      seen.insert(name);
      ++taken;
    }
  };
  while (running > 0) {
    take();
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  for (std::size_t before = taken + 1; before != taken;) {
    before = taken;
    take();
  }
  EXPECT_EQ(seen.size(), taken);
  EXPECT_EQ(taken + queue.dropped(), std::size_t{kThreads} * kEach);
}

}  // namespace
}  // namespace sluice::telemetry
