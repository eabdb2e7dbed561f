#include "frontend/http/answer_memory.h"

#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace sluice::frontend::http {
namespace {

using Found = AnswerMemory::Found;
using std::chrono::hours;

constexpr Duration kNow = hours(5);

class AnswerMemoryTest : public testing::Test {
 protected:
  Found Begin(const std::string& name, const std::string& body, Duration now = kNow) {
    return memory_.Begin(name, body, now, answer_, [this] { ++woken_; });
  }
  std::string Metric(const std::string& name) {
    telemetry::Registry registry;
    registry.Add(memory_);
    const std::string text = registry.Text();
    const std::size_t at = text.find("\n" + name + " ");
    return at == std::string::npos
               ? ""
               : text.substr(at + name.size() + 2, text.find('\n', at + 1) - at - name.size() - 2);
  }

  AnswerMemory memory_{{.bytes = 16 * 4096, .keep = hours(24)}};
  AnswerMemory::Answer answer_;
  int woken_ = 0;
};

TEST_F(AnswerMemoryTest, GivesTheFirstAnswerBackUntilItsTimeIsOver) {
  EXPECT_EQ(Begin("a", "x"), Found::kNothing);
  memory_.Keep("a", kNow, {.fields = "F", .body = "B"});
  EXPECT_EQ(Begin("a", "x", kNow + hours(24) - Duration(1)), Found::kAnswer);
  EXPECT_EQ(answer_.fields, "F");
  EXPECT_EQ(answer_.body, "B");
  EXPECT_EQ(Begin("a", "y"), Found::kOther);
  EXPECT_EQ(Begin("b", "x"), Found::kNothing);
  EXPECT_EQ(Begin("a", "x", kNow + hours(24)), Found::kNothing);
  EXPECT_EQ(Metric("sluice_idempotency_replays_total"), "1");
  EXPECT_EQ(Metric("sluice_idempotency_conflicts_total"), "1");
  EXPECT_EQ(Metric("sluice_idempotency_answers"), "0");
  EXPECT_EQ(Metric("sluice_idempotency_bytes"), "0");
}

TEST_F(AnswerMemoryTest, ADenialIsForgotten) {
  EXPECT_EQ(Begin("a", "x"), Found::kNothing);
  memory_.Drop("a");
  EXPECT_EQ(Begin("a", "y"), Found::kNothing);
}

TEST_F(AnswerMemoryTest, ASecondCopyWaitsForTheFirst) {
  EXPECT_EQ(Begin("a", "x"), Found::kNothing);
  EXPECT_EQ(Begin("a", "x"), Found::kPending);
  EXPECT_EQ(Begin("a", "x"), Found::kPending);
  EXPECT_EQ(Begin("a", "y"), Found::kOther);
  EXPECT_EQ(woken_, 0);
  memory_.Keep("a", kNow, {.fields = "", .body = "B"});
  EXPECT_EQ(woken_, 2);
  EXPECT_EQ(Begin("a", "x"), Found::kAnswer);
  EXPECT_EQ(Begin("b", "x"), Found::kNothing);
  EXPECT_EQ(Begin("b", "x"), Found::kPending);
  memory_.Drop("b");
  EXPECT_EQ(woken_, 3);
}

TEST_F(AnswerMemoryTest, HasABoundAndCountsWhatItForgetsEarly) {
  for (int i = 0; i < 2'000; ++i) {
    const std::string name = "n" + std::to_string(i);
    ASSERT_EQ(Begin(name, "x"), Found::kNothing);
    memory_.Keep(name, kNow, {.fields = "", .body = std::string(100, 'b')});
  }
  const int kept = std::stoi(Metric("sluice_idempotency_answers"));
  EXPECT_GT(kept, 100);
  EXPECT_LE(std::stoi(Metric("sluice_idempotency_bytes")), 16 * 4096);
  EXPECT_EQ(std::stoi(Metric("sluice_idempotency_evictions_total")), 2'000 - kept);
  EXPECT_EQ(Begin("n1999", "x"), Found::kAnswer);
  EXPECT_EQ(Begin("huge", "x"), Found::kNothing);
  memory_.Keep("huge", kNow, {.fields = "", .body = std::string(10'000, 'b')});
  EXPECT_EQ(Begin("huge", "x"), Found::kNothing);
}

TEST_F(AnswerMemoryTest, OfCopiesOnManyThreadsOneIsFirst) {
  for (int round = 0; round < 50; ++round) {
    const std::string name = "r" + std::to_string(round);
    std::atomic<int> firsts{0};
    std::atomic<int> replays{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < 8; ++i) {
      threads.emplace_back([&] {
        for (;;) {
          const auto again = std::make_shared<std::promise<void>>();
          AnswerMemory::Answer answer;
          const Found found =
              memory_.Begin(name, "x", kNow, answer, [again] { again->set_value(); });
          if (found == Found::kNothing) {
            ++firsts;
            memory_.Keep(name, kNow, {.fields = "", .body = "B"});
            return;
          }
          if (found == Found::kAnswer) {
            ++replays;
            return;
          }
          again->get_future().wait();
        }
      });
    }
    for (std::thread& thread : threads) {
      thread.join();
    }
    EXPECT_EQ(firsts, 1);
    EXPECT_EQ(replays, 7);
  }
}

}  // namespace
}  // namespace sluice::frontend::http
