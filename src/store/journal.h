#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "base/assert.h"

// Whole or not at all, though killed at any instruction
// =====================================================
//
// The problem. A request overwrites several places: slots, heads of blocks, entries. If the
// process is killed in between, the next one finds the mapping half new. So each thread has a
// record in the mapping, of what it is about to overwrite:
//
//   Save()... for every range, Publish(), the writes, Retire(), then the slots are unlocked.
//
// Whoever opens the file next puts back what every published record has saved. What can come in
// between, and why each is safe:
//
// 1. A kill before Publish(). The record counts no ranges, and none of them is overwritten yet.
//
// 2. A kill between Publish() and Retire(). All ranges are saved whole, and go back. Where a range
//    was saved twice, they go back from the last to the first: the oldest bytes win.
//
// 3. A kill behind Retire(). The record counts no ranges; the writes stand. The locks in the file
//    are opened by recovery.
//
// 4. A kill while the next process undoes. A record is retired only when all of it went back, so
//    it is undone again. That writes the same bytes.
//
// 5. Two records name the same slot, of which one is half way. A thread retires its record before
//    it unlocks the slots; the unlock is a release, and the next holder saves the bytes behind its
//    acquire. So when the second record names the slot, the first one is retired: no two records
//    undo each other's work.
//
// 6. A processor that reorders stores (arm64). A kill takes a thread between two of its
//    instructions: all stores before that point reach memory, if late, and none behind it does.
//    Other threads may see them in another order, but who undoes is none of these: it comes when
//    the last thread of the killed process is gone, through the kernel, by way of the lock on the
//    file. So only the compiler must be kept from moving stores: hence the signal fences.
//
// A machine that loses power loses a tmpfs anyway: that is what snapshots are for.
namespace sluice::store {

inline constexpr std::size_t kMaxSavedBytes = 48;

struct SavedRange {
  std::uint64_t offset = 0;  // From the mapping's start.
  std::uint32_t size = 0;
  std::uint32_t spare = 0;
  std::array<std::uint8_t, kMaxSavedBytes> bytes{};
};
static_assert(sizeof(SavedRange) == 64);

// Each check of a request: a slot, the slot under a former id, two block heads, an entry.
inline constexpr std::size_t kRangesPerCheck = 5;
inline constexpr std::size_t kJournalRanges = 64 * kRangesPerCheck;

struct alignas(64) JournalRecord {
  std::atomic<std::uint32_t> count{0};  // 0: nothing under way.
  std::array<std::uint32_t, 15> spare{};
  std::array<SavedRange, kJournalRanges> ranges{};
};
static_assert(sizeof(JournalRecord) == 64 + kJournalRanges * 64);

// One request's use of its thread's record.
class Journal {
 public:
  Journal(std::byte* base, JournalRecord& record) : base_(base), record_(&record) {}

  // Notes `size` bytes (at most kMaxSavedBytes) at `at`, which lies in the mapping.
  void Save(const void* at, std::size_t size) {
    SLUICE_DCHECK(size <= kMaxSavedBytes);
    SLUICE_ASSERT(count_ < kJournalRanges);
    SavedRange& range = record_->ranges[count_++];
    range.offset = static_cast<std::uint64_t>(static_cast<const std::byte*>(at) - base_);
    range.size = static_cast<std::uint32_t>(size);
    std::memcpy(range.bytes.data(), at, size);
  }
  void Publish() {
    std::atomic_signal_fence(std::memory_order_seq_cst);
    // Release pairs with the acquire in UndoAll, where a test runs it in the same process.
    record_->count.store(count_, std::memory_order_release);
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }
  void Retire() {
    std::atomic_signal_fence(std::memory_order_seq_cst);
    record_->count.store(0, std::memory_order_release);
    std::atomic_signal_fence(std::memory_order_seq_cst);
    count_ = 0;
  }

 private:
  std::byte* base_;
  JournalRecord* record_;
  std::uint32_t count_ = 0;
};

// Puts back what every unfinished request has overwritten, all of it at or behind `from`.
// Returns how many there were; -1 if a record cannot be true (the file is damaged), in which
// case nothing was changed. Part of recovery.cc.
int UndoAll(std::span<std::byte> mapping, std::size_t from, std::span<JournalRecord> records);

}  // namespace sluice::store
