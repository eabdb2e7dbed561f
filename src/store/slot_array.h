#pragma once

#include <atomic>
#include <cstdint>
#include <span>

#include "sluice/time.h"

#include "store/block_pool.h"
#include "store/slot.h"

namespace sluice::store {

// What a table counts. A decision on an existing key touches none of them; on a cache line of its
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

// Keys and where they lie: open addressing with linear probing. A key's home is the high
// half of its fingerprint, scaled to the number of homes; it lies there or up to
// `max_probe_distance` slots behind. The home slot keeps that number, which bounds every scan. So a
// slot can be emptied without leaving a marker.
//
// Finding takes no lock: the finder of a slot locks it and compares again. Inserting holds the
// home's insert lock, so one key never gets two slots; it takes slots by try-lock only, so it never
// waits while it holds that lock.
//
// Why one key never gets two slots, where threads may see each other's writes late: a key is put in
// under the insert lock of its home alone, and that lock's acquire pairs with its release. So the
// holder sees the fingerprint and the distance that each earlier holder wrote, or later values. A
// fingerprint is overwritten only by a thread that holds the slot's lock and found its key expired,
// or evicted it. So a miss under the insert lock means that the key is gone, and a match that is
// out of date is found out when the slot is locked and compared.
class SlotArray {
 public:
  SlotArray(std::span<Slot> slots, std::uint64_t homes, BlockPool& blocks, TableCounters& counters)
      : slots_(slots.data()),
        count_(slots.size()),
        homes_(homes),
        blocks_(&blocks),
        counters_(&counters) {}

  [[nodiscard]] Slot& HomeOf(const Fingerprint& key) const {
    const auto scaled = static_cast<Uint128>(key.high) * homes_;
    return slots_[static_cast<std::uint64_t>(scaled >> 64U)];
  }

  // Asks for the cache lines that Find will most likely read: at the rated load a key lies two
  // behind its home on average. Always inline: g++ 12 drops a call that does nothing else.
  [[gnu::always_inline]] void Prefetch(const Fingerprint& key) const {
    const Slot* home = &HomeOf(key);
    __builtin_prefetch(home, 1);
    __builtin_prefetch(home + 1, 1);
    __builtin_prefetch(home + 2, 1);
  }

  // The key's slot, not locked; nullptr if it has none.
  [[nodiscard]] Slot* Find(const Fingerprint& key) const {
    Slot* home = &HomeOf(key);
    // Pairs with the release in Insert: who sees a distance that covers a slot sees its key. The
    // fingerprints may be relaxed, as the acquire keeps them behind it.
    Slot* end = home + home->max_probe_distance.load(std::memory_order_acquire) + 1;
    for (Slot* slot = home; slot != end; ++slot) {
      if (slot->high.load(std::memory_order_relaxed) == key.high &&
          slot->low.load(std::memory_order_relaxed) == key.low) {
        return slot;
      }
    }
    return nullptr;
  }

  struct Newcomer {
    Fingerprint key;
    std::uint16_t rule = 0;
    std::uint8_t kind = 0;
    TableInstant now;
    std::uint32_t owner = 0;
    bool may_evict = false;
  };
  // Inserts a key that Find did not find. Returns its slot, locked and fresh; or, if another thread
  // was faster, that thread's slot, locked: compare again. nullptr: no room within the probe bound.
  [[nodiscard]] Slot* Insert(const Newcomer& newcomer);

  // Makes a locked slot's key fresh and gives back its blocks.
  void Clear(Slot& slot);
  // Frees every key that may be forgotten at `now`. Returns how many.
  std::uint64_t Sweep(TableInstant now, std::uint32_t owner);
  // Whose blocks may be taken besides those of expired keys.
  enum class FromKeys : std::uint8_t { kNone, kCold, kAny };
  // Makes room in the block pool: forgets what is over at `now` among the next kBlocksPerLook
  // blocks or, if nothing is and `from` allows it, the key nearest to fresh among those that are
  // not hot; with kAny, where all are hot, the least hot one. False if nothing could go. One look
  // takes a few microseconds.
  bool FreeBlocks(TableInstant now, std::uint32_t owner, FromKeys from);
  static constexpr std::uint32_t kBlocksPerLook = 64;

  [[nodiscard]] std::uint64_t size() const { return count_; }
  [[nodiscard]] Slot& at(std::uint64_t index) const { return slots_[index]; }
  [[nodiscard]] std::uint32_t IndexOf(const Slot& slot) const {
    return static_cast<std::uint32_t>(&slot - slots_);
  }
  [[nodiscard]] std::uint64_t CountLive(TableInstant now) const;

 private:
  Slot* Claim(Slot* home, const Newcomer& newcomer, std::uint32_t now);
  Slot* Evict(Slot* home, const Newcomer& newcomer);
  bool TakeBlocksOf(Slot& slot);
  bool Forget(Slot& slot, std::uint32_t owner, std::uint32_t now);
  void Occupy(Slot& slot, const Newcomer& newcomer);

  Slot* slots_;
  std::uint64_t count_;
  std::uint64_t homes_;
  BlockPool* blocks_;
  TableCounters* counters_;
  std::atomic<std::uint32_t> block_hand_{0};  // Where FreeBlocks continues.
};

}  // namespace sluice::store
