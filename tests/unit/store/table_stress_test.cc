#include <array>
#include <atomic>
#include <barrier>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "store/table.h"
#include "support/manual_clock.h"
#include "support/store_calls.h"

// Sixty-four threads on shared and on disjoint keys. The clock stands, so a ledger of what
// was charged must agree with the table to the unit.
namespace sluice::store {
namespace {

using core::Algorithm;
using support::OwnedCheckCall;
using support::OwnedKey;
using support::QuotaOf;

constexpr int kThreads = 64;

std::unique_ptr<Table> NewTable(const base::Clock& clock, std::uint64_t keys) {
  auto table =
      Table::Create({.path = "", .keys = keys, .blocks = 4096, .huge_pages = false}, clock);
  return std::move(*table);
}

template <class F>
void OnThreads(F f) {
  std::vector<std::thread> threads;
  threads.reserve(kThreads);
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back(f, i);
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
}

class TableStressTest : public ::testing::TestWithParam<Algorithm> {};

// Demand is above supply: what passes must be the quota, no unit more and none less.
TEST_P(TableStressTest, OneSharedKeyGrantsItsQuotaExactly) {
  const support::ManualClock clock;
  const std::unique_ptr<Table> table = NewTable(clock, 1000);
  const core::Quota quota = QuotaOf(GetParam(), 1000);
  const OwnedKey key("shared");
  std::atomic<int> granted{0};
  OnThreads([&](int) {
    OwnedCheckCall call;
    call.Add({.key = key.view(), .quota = quota, .cost = {}});
    const std::array<CheckCall*, 1> batch{&call};
    for (int i = 0; i < 40; ++i) {
      table->CheckMany(batch);
      granted += call.own_answers[0].charged ? 1 : 0;
    }
  });
  EXPECT_EQ(granted, 1000);
}

// Requests of three checks over twelve keys, all or nothing. Every key's ledger of charged
// units equals what the table says is used: none was lost to a denied request. And no denial
// is without cause: when all is over, each key that denied can still not take that cost
// (with the clock standing, a key only fills up).
TEST_P(TableStressTest, SharedKeysAreChargedAllOrNothing) {
  const support::ManualClock clock;
  const std::unique_ptr<Table> table = NewTable(clock, 1000);
  constexpr std::size_t kKeys = 12;
  constexpr Units kLimit = 400;
  const core::Quota quota = QuotaOf(GetParam(), kLimit);
  std::array<std::unique_ptr<OwnedKey>, kKeys> keys;
  for (std::size_t i = 0; i < kKeys; ++i) {
    keys[i] = std::make_unique<OwnedKey>(std::to_string(i));
  }
  std::array<std::atomic<Units>, kKeys> ledger{};
  std::atomic<bool> torn{false};
  std::array<std::atomic<Units>, kKeys> least_denied{};
  for (auto& least : least_denied) {
    least = kLimit + 1;
  }
  OnThreads([&](int thread) {
    std::mt19937 random(static_cast<unsigned>(thread));
    for (int i = 0; i < 60; ++i) {
      OwnedCheckCall call;
      std::array<std::size_t, 3> chosen{};
      for (std::size_t& k : chosen) {
        k = random() % kKeys;
        call.Add({.key = keys[k]->view(),
                  .quota = quota,
                  .cost = Cost{static_cast<Units>(1 + random() % 3)}});
      }
      const bool distinct =
          chosen[0] != chosen[1] && chosen[1] != chosen[2] && chosen[0] != chosen[2];
      const std::array<CheckCall*, 1> batch{&call};
      table->CheckMany(batch);
      int charged = 0;
      for (std::size_t c = 0; c < 3; ++c) {
        const CheckAnswer& answer = call.own_answers[c];
        const Units cost = call.own_checks[c].cost.units;
        if (answer.charged) {
          ++charged;
          ledger[chosen[c]] += cost;
        }
        if (!answer.decision.allowed && distinct) {
          Units least = least_denied[chosen[c]];
          while (cost < least && !least_denied[chosen[c]].compare_exchange_weak(least, cost)) {
          }
        }
      }
      torn = torn || (charged != 0 && charged != 3);
    }
  });
  EXPECT_FALSE(torn);
  for (std::size_t i = 0; i < kKeys; ++i) {
    OwnedCheckCall peek;
    peek.peek = true;
    peek.Add({.key = keys[i]->view(), .quota = quota, .cost = {}});
    const std::array<CheckCall*, 1> batch{&peek};
    table->CheckMany(batch);
    EXPECT_EQ(kLimit - peek.own_answers[0].decision.remaining, ledger[i]);
    EXPECT_LT(peek.own_answers[0].decision.remaining, least_denied[i]);
  }
}

// Each thread on keys of its own, in a table that they fill: nobody's count is touched by
// anybody else's insert.
TEST_P(TableStressTest, DisjointKeysDoNotTouchEachOther) {
  const support::ManualClock clock;
  const std::unique_ptr<Table> table = NewTable(clock, kThreads * 20);
  const core::Quota quota = QuotaOf(GetParam(), 5);
  std::atomic<int> wrong{0};
  OnThreads([&](int thread) {
    for (int round = 0; round < 7; ++round) {
      for (int k = 0; k < 20; ++k) {
        const OwnedKey key(std::to_string(thread) + "/" + std::to_string(k));
        OwnedCheckCall call;
        call.Add({.key = key.view(), .quota = quota, .cost = {}});
        const std::array<CheckCall*, 1> batch{&call};
        table->CheckMany(batch);
        wrong += call.own_answers[0].decision.allowed == (round < 5) ? 0 : 1;
      }
    }
  });
  EXPECT_EQ(wrong, 0);
}

INSTANTIATE_TEST_SUITE_P(Algorithms, TableStressTest, ::testing::ValuesIn(core::kStepsInRules),
                         [](const auto& tested) {
                           return std::string(core::NameOf(tested.param));
                         });

TEST(TableHoldsTest, HoldsTakenAndReleasedByManyThreadsNeverExceedTheLimit) {
  const support::ManualClock clock;
  const std::unique_ptr<Table> table = NewTable(clock, 1000);
  const core::Quota quota = QuotaOf(Algorithm::kConcurrency, 10);
  const OwnedKey key("h");
  std::atomic<int> in_flight{0};
  std::atomic<bool> above{false};
  OnThreads([&](int) {
    for (int i = 0; i < 50; ++i) {
      OwnedCheckCall call;
      call.Add({.key = key.view(), .quota = quota, .cost = {}});
      const std::array<CheckCall*, 1> batch{&call};
      table->CheckMany(batch);
      if (!call.own_answers[0].charged) {
        continue;
      }
      above = above || ++in_flight > 10;
      support::Answered<HoldCall> release;
      release.key = key.view();
      release.quota = quota;
      release.hold = call.own_answers[0].hold;
      --in_flight;
      table->Release(release);
      EXPECT_EQ(release.error, StoreError::kNone);
    }
  });
  EXPECT_FALSE(above);
  EXPECT_EQ(table->Stats().blocks_in_use, 0U);
}

// A check under a rule's new id moves what the old one holds; a reset at the same moment comes
// before or after it, so that at most that check's unit is used. One thread goes through the keys
// from the front, the other from the back: they meet once a round.
TEST(TableRenameTest, AResetNeverMissesAStateThatIsJustBeingMoved) {
  constexpr int kRounds = 400;
  constexpr int kKeys = 64;
  const support::ManualClock clock;
  const std::unique_ptr<Table> table = NewTable(clock, kRounds * kKeys * 2);
  const core::Quota quota = QuotaOf(Algorithm::kGcra, 100);
  const auto ask = [&](const core::KeyView& key, Units cost, bool peek) {
    OwnedCheckCall call;
    call.peek = peek;
    call.Add({.key = key, .quota = quota, .cost = Cost{cost}});
    const std::array<CheckCall*, 1> batch{&call};
    table->CheckMany(batch);
    return call.own_answers[0].decision.remaining;
  };
  std::barrier round(2);
  std::vector<std::unique_ptr<OwnedKey>> renamed(kKeys);
  int missed = 0;
  std::thread mover([&] {
    for (int i = 0; i < kRounds; ++i) {
      for (int k = 0; k < kKeys; ++k) {
        const std::string text = std::to_string(i) + "/" + std::to_string(k);
        renamed[static_cast<std::size_t>(k)] = std::make_unique<OwnedKey>(text, "new", "old");
        (void)ask(OwnedKey(text, "old").view(), 50, false);
      }
      round.arrive_and_wait();
      for (const auto& key : renamed) {
        (void)ask(key->view(), 1, false);
      }
      round.arrive_and_wait();
      for (const auto& key : renamed) {
        missed += ask(key->view(), 0, true) < 99 ? 1 : 0;
      }
    }
  });
  for (int i = 0; i < kRounds; ++i) {
    round.arrive_and_wait();
    for (auto key = renamed.rbegin(); key != renamed.rend(); ++key) {
      support::Answered<ResetCall> reset;
      reset.key = (*key)->view();
      reset.quota = quota;
      table->Reset(reset);
    }
    round.arrive_and_wait();
  }
  mover.join();
  EXPECT_EQ(missed, 0);
}

}  // namespace
}  // namespace sluice::store
