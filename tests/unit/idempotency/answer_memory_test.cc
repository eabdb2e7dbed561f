#include "idempotency/answer_memory.h"

#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace sluice::idempotency {
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
  memory_.Keep("a", kNow, {.metadata = "F", .body = "B"});
  EXPECT_EQ(Begin("a", "x", kNow + hours(24) - Duration(1)), Found::kAnswer);
  EXPECT_EQ(answer_.metadata, "F");
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
  memory_.Keep("a", kNow, {.metadata = "", .body = "B"});
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
    memory_.Keep(name, kNow, {.metadata = "", .body = std::string(100, 'b')});
  }
  const int kept = std::stoi(Metric("sluice_idempotency_answers"));
  EXPECT_GT(kept, 100);
  EXPECT_LE(std::stoi(Metric("sluice_idempotency_bytes")), 16 * 4096);
  EXPECT_EQ(std::stoi(Metric("sluice_idempotency_evictions_total")), 2'000 - kept);
  EXPECT_EQ(Begin("n1999", "x"), Found::kAnswer);
  EXPECT_EQ(Begin("huge", "x"), Found::kNothing);
  memory_.Keep("huge", kNow, {.metadata = "", .body = std::string(10'000, 'b')});
  EXPECT_EQ(Begin("huge", "x"), Found::kNothing);
}

// Takes down what it is told, and answers at once.
struct Records final : store::AnswerRecords {
  void Claim(store::RecordCall& call) override { Take(call); }
  void Keep(store::RecordCall& call) override { Take(call); }
  void Drop(store::RecordCall& call) override { Take(call); }
  void Take(store::RecordCall& call) {
    names.push_back(call.name);
    bodies.push_back(call.body);
    answers.push_back(call.answer);
    lasts = call.lasts;
    call.OnAnswered();
  }
  std::vector<std::string> names;
  std::vector<std::string> bodies;
  std::vector<std::string> answers;
  Duration lasts{};
};
struct Claim final : store::RecordCall {
  void OnAnswered() noexcept override {}
};

TEST(SharedAnswerMemoryTest, TellsOthersWhatIsKeptUnderADigestThatAllNodesMake) {
  Records records;
  AnswerMemory memory{{.bytes = 1U << 20U, .keep = hours(3), .shared = &records}};
  AnswerMemory::Answer answer;
  Claim claim;
  EXPECT_EQ(memory.Begin("secret", "x", kNow, answer, [] {}), Found::kNothing);
  memory.PrepareClaim("secret", "x", claim);
  EXPECT_EQ(claim.name, "2bb80d537b1da3e38bd30361aa855686");  // The first half of its SHA-256.
  EXPECT_EQ(claim.body.size(), 32U);
  EXPECT_EQ(memory.TakeClaim(claim, answer), Found::kNothing);
  memory.Keep("secret", kNow, {.metadata = "A: b\r\n", .body = "{12:}"});
  ASSERT_EQ(records.names, std::vector<std::string>{claim.name});
  EXPECT_EQ(records.bodies[0], claim.body);
  EXPECT_EQ(records.lasts, hours(3));
  // As another node reads it.
  AnswerMemory other{{.bytes = 1U << 20U, .keep = hours(3), .shared = &records}};
  claim.found = Claim::Found::kAnswered;
  claim.answer = records.answers[0];
  EXPECT_EQ(other.TakeClaim(claim, answer), Found::kAnswer);
  EXPECT_EQ(answer.metadata, "A: b\r\n");
  EXPECT_EQ(answer.body, "{12:}");
}

TEST(SharedAnswerMemoryTest, WhatCannotBeReadIsDecidedHere) {
  Records records;
  AnswerMemory memory{{.bytes = 1U << 20U, .shared = &records}};
  AnswerMemory::Answer answer;
  Claim claim;
  claim.found = Claim::Found::kAnswered;
  for (const char* text : {"", ":", "5", "5:abc", "x:abc", "-1:abc", "99999999999999999999:"}) {
    claim.answer = text;
    EXPECT_EQ(memory.TakeClaim(claim, answer), Found::kNothing) << text;
  }
  claim.answer = "0:";
  EXPECT_EQ(memory.TakeClaim(claim, answer), Found::kAnswer);
  claim.error = store::StoreError::kUnavailable;
  EXPECT_EQ(memory.TakeClaim(claim, answer), Found::kNothing);
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
            memory_.Keep(name, kNow, {.metadata = "", .body = "B"});
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
}  // namespace sluice::idempotency
