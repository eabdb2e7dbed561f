#pragma once

#include <atomic>
#include <cstdint>

namespace sluice::store {

// How a table is doing, at about one moment.
struct TableStats {
  std::uint64_t slots = 0;
  std::uint64_t live_slots = 0;       // Estimated from a sample in a large table.
  std::uint64_t inserts = 0;          // Keys that got a slot.
  std::uint64_t reclaimed = 0;        // Of those, in the slot of a key that was fresh again.
  std::uint64_t evictions = 0;        // Keys forgotten before their time, for want of slots ...
  std::uint64_t block_evictions = 0;  // ... or of blocks.
  std::uint64_t full_denials = 0;     // Checks denied for want of room.
  std::uint64_t full_allows = 0;      // Checks let through unmetered for want of room.
  std::uint64_t bans = 0;             // Imposed, or made longer.
  std::uint64_t blocks = 0;
  std::uint64_t blocks_in_use = 0;
};

// The counted part. None is touched by a decision on a key that is there; on a cache line of its
// own, so that one thread's inserts do not take from the others what they read for each decision.
struct alignas(64) TableCounters {
  std::atomic<std::uint64_t> inserts{0};
  std::atomic<std::uint64_t> reclaimed{0};
  std::atomic<std::uint64_t> evictions{0};
  std::atomic<std::uint64_t> block_evictions{0};
  std::atomic<std::uint64_t> full_denials{0};
  std::atomic<std::uint64_t> full_allows{0};
  std::atomic<std::uint64_t> bans{0};

  static void Add(std::atomic<std::uint64_t>& counter, std::uint64_t n = 1) {
    counter.fetch_add(n, std::memory_order_relaxed);
  }
};

}  // namespace sluice::store
