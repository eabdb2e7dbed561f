#include "store/key_copier.h"

#include <array>
#include <atomic>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <sched.h>

#include "core/judging.h"
#include "store/block.h"
#include "store/decide_one.h"
#include "store/mapping.h"
#include "store/refund.h"
#include "store/request.h"
#include "store/table_layout.h"
#include "support/store_calls.h"

namespace sluice::store {
namespace {

using core::Algorithm;
using support::OwnedCheckCall;
using support::OwnedKey;

constexpr Geometry kGeometry{.homes = 100, .blocks = 1000};
constexpr Duration kWindow = std::chrono::hours(1);

// What was handed over, put together as a loader would.
class Collector final : public KeySink {
 public:
  bool Take(const KeyImage& image, std::span<const std::byte> items) override {
    if (image.part == 0) {
      entries.clear();
    }
    parts.push_back(image);
    for (std::size_t i = 0; i < image.items; ++i) {
      core::Entry entry;
      std::memcpy(&entry, items.data() + i * sizeof(entry), sizeof(entry));
      entries.push_back(entry);
    }
    if (auto run = std::exchange(meanwhile, nullptr)) {
      run();
    }
    return true;
  }

  std::vector<KeyImage> parts;
  std::vector<core::Entry> entries;
  std::function<void()> meanwhile;  // Runs once, behind the first part.
};

// The parts of a table, without a table around them.
class KeyCopierTest : public ::testing::Test {
 protected:
  KeyCopierTest()
      : mapping_(std::move(*Mapping::Anonymous(TableLayout::Of(kGeometry).bytes, false))),
        parts_(TableParts::Of(mapping_.bytes(), TableLayout::Of(kGeometry))),
        core_{.hash = KeyHash(parts_.header->secret),
              .rules = RuleDirectory(parts_.rules),
              .blocks = BlockPool(parts_.blocks, {}),
              .counters = {},
              .slots = SlotArray(parts_.slots, kGeometry.homes, core_.blocks, core_.counters),
              .base = parts_.bytes.data(),
              .journal = parts_.journal} {
    quota_.algorithm = Algorithm::kSlidingWindowLog;
    quota_.limit = 100'000;
    quota_.window = kWindow;
  }

  [[nodiscard]] Turn Now() const {
    return {.now = {.monotonic = TableInstant(now_), .wall_clock = WallInstant(now_)}, .thread = 0};
  }
  void Use(int units) {
    for (int i = 0; i < units; ++i) {
      now_ += Duration(1);
      OwnedCheckCall call;
      call.Add({.key = key_.view(), .quota = quota_, .cost = {}});
      const std::array<Fingerprint, 1> keys{core_.hash.Of("r", key_.view(), quota_)};
      Request(core_, Now(), call, keys).Decide();
      ASSERT_TRUE(call.own_answers[0].charged);
    }
  }
  [[nodiscard]] Slot& TheSlot() {
    return *core_.slots.Find(core_.hash.Of("r", key_.view(), quota_));
  }
  void CopyAll(KeySink& sink) {
    EXPECT_TRUE(KeyCopier(core_.slots, core_.blocks, 2).CopyAll(Now().now.monotonic, sink));
  }
  static void ExpectRising(const std::vector<core::Entry>& entries) {
    for (std::size_t i = 1; i < entries.size(); ++i) {
      ASSERT_LT(entries[i - 1].at, entries[i].at);
    }
  }

  Mapping mapping_;
  TableParts parts_;
  TableCore core_;
  core::Quota quota_;
  const OwnedKey key_{"k"};
  Duration now_ = std::chrono::hours(1000);
};

// The first key says that the copier has arrived; the second is in the middle of being written.
TEST_F(KeyCopierTest, AKeyIsCopiedUnderItsLockOnly) {
  constexpr std::uint32_t kOwner = 1;
  for (const std::uint64_t i : {10, 20}) {
    Slot& slot = core_.slots.at(i);
    slot.high = i;
    slot.kind = 1;
    slot.expiry = kNoExpirySecond;
    slot.state.words = {1, 1, 1, 1};
  }
  Slot& second = core_.slots.at(20);
  ASSERT_TRUE(TryLock(second, kOwner));
  std::atomic<bool> arrived{false};
  Collector collector;
  collector.meanwhile = [&arrived] { arrived = true; };
  std::thread copying([&] { CopyAll(collector); });
  for (int i = 0; i < 1000 || !arrived; ++i) {
    sched_yield();
  }
  second.state.words = {2, 2, 2, 2};
  Unlock(second);
  copying.join();
  ASSERT_EQ(collector.parts.size(), 2U);
  EXPECT_EQ(collector.parts[1].state.words, (std::array<std::uint64_t, 4>{2, 2, 2, 2}));
}

TEST_F(KeyCopierTest, ALongLogThatGrowsMeanwhileGoesOnWhereItWas) {
  ASSERT_NO_FATAL_FAILURE(Use(1000));
  Collector collector;
  collector.meanwhile = [this] { Use(5); };
  CopyAll(collector);
  EXPECT_EQ(collector.parts.size(), 3U);  // 64 blocks of 7 entries each.
  EXPECT_EQ(collector.parts[0].items, 448U);
  EXPECT_EQ(collector.parts[2].part, 2U);
  EXPECT_EQ(collector.entries.size(), 1005U);
  ExpectRising(collector.entries);
}

TEST_F(KeyCopierTest, ALongLogWhoseCopiedPartIsOverBeginsAnew) {
  ASSERT_NO_FATAL_FAILURE(Use(1000));
  Collector collector;
  collector.meanwhile = [this] {
    now_ += kWindow - Duration(401);
    Use(1);  // Drops 600.
  };
  CopyAll(collector);
  EXPECT_EQ(collector.parts[1].part, 0U);
  EXPECT_EQ(collector.entries.size(), 401U);
  ExpectRising(collector.entries);
}

TEST_F(KeyCopierTest, ALongLogThatIsResetMeanwhileIsTakenBack) {
  ASSERT_NO_FATAL_FAILURE(Use(1000));
  Collector collector;
  collector.meanwhile = [this] { core_.slots.Clear(TheSlot()); };
  CopyAll(collector);
  ASSERT_EQ(collector.parts.size(), 2U);
  EXPECT_EQ(collector.parts[1].expiry, 0U);
  EXPECT_EQ(collector.parts[1].items, 0U);
}

// Everything over at once: the log starts anew, with another origin to count from.
TEST_F(KeyCopierTest, ALongLogThatWasOverAndIsUsedAgainBeginsAnew) {
  ASSERT_NO_FATAL_FAILURE(Use(1000));
  Collector collector;
  collector.meanwhile = [this] {
    now_ += 2 * kWindow;
    Use(700);
  };
  CopyAll(collector);
  EXPECT_EQ(collector.entries.size(), 700U);
  ExpectRising(collector.entries);
  EXPECT_EQ(collector.entries.front().at, 0);
}

// Half of the keys are copied when all charges are settled: the marks that this leaves lie before
// and behind where the copier is. Whoever has what was given back must have the mark too, or the
// receipt would give it back again.
TEST_F(KeyCopierTest, WhatASettlementGaveBackIsNeverCopiedWithoutItsMark) {
  constexpr std::size_t kCharged = 40;
  quota_ = support::QuotaOf(Algorithm::kFixedWindow, 10);
  std::vector<std::unique_ptr<OwnedKey>> keys;
  std::vector<Receipt> receipts;
  for (std::size_t i = 0; i < kCharged; ++i) {
    keys.push_back(std::make_unique<OwnedKey>(std::to_string(i)));
    OwnedCheckCall call;
    call.Add({.key = keys[i]->view(), .quota = quota_, .cost = Cost{4}, .want_receipt = true});
    DecideOne(core_, Now(), call, core_.hash.Of("r", keys[i]->view(), quota_));
    receipts.push_back(call.own_answers[0].receipt);
  }
  class Sink final : public KeySink {
   public:
    bool Take(const KeyImage& image, std::span<const std::byte> /*items*/) override {
      marks += image.kind == kMarkKind ? 1 : 0;
      keys += image.kind == kMarkKind ? 0 : 1;
      if (keys == kCharged / 2 && settle_all) {
        std::exchange(settle_all, nullptr)();
      }
      return true;
    }
    std::size_t keys = 0;
    std::size_t marks = 0;
    std::function<void()> settle_all;
  };
  Sink sink;
  sink.settle_all = [&] {
    for (std::size_t i = 0; i < kCharged; ++i) {
      support::Answered<SettleCall> call;
      call.key = keys[i]->view();
      call.quota = quota_;
      call.receipt = receipts[i];
      call.charged = 4;
      call.units = 1;
      SettleCharge(core_, Now(), call);
      ASSERT_EQ(call.error, StoreError::kNone);
    }
  };
  CopyAll(sink);
  EXPECT_EQ(sink.keys, kCharged);
  EXPECT_EQ(sink.marks, kCharged);
}

}  // namespace
}  // namespace sluice::store
