#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "sluice/time.h"

namespace sluice::store {

__extension__ using Uint128 = unsigned __int128;

// 128 bits of a keyed hash. Two keys with the same one would share a quota; with a secret per
// table, clients cannot search for such a pair, and by chance it takes 2^64 keys.
struct Fingerprint {
  std::uint64_t high = 0;  // Also says the home slot.
  std::uint64_t low = 0;

  bool operator==(const Fingerprint&) const = default;
};

// An algorithm's State, as bytes. All zero is a fresh key.
struct RawState {
  std::array<std::uint64_t, 4> words{};

  bool operator==(const RawState&) const = default;
};

// The state of algorithms with entries: their own 24 bytes and the two ends of a chain of blocks
// (index + 1; 0 is none).
struct ListState {
  std::array<std::uint64_t, 3> core{};
  std::uint32_t head = 0;
  std::uint32_t tail = 0;
};
static_assert(sizeof(ListState) == sizeof(RawState));

// One key: one cache line.
//
// Who may rely on what, on machines that reorder (arm64) as on x86, which hardly does:
//
// - The lock. TryLock acquires and Unlock releases, so whoever holds it sees every write that
//   earlier holders made. That alone orders the key's state, its blocks and its expiry, and is why
//   all of these are plain or relaxed.
// - The fingerprint. It is written under the lock and read without it, in two halves that may be of
//   two keys, and may be older than what the slot holds by now. So a match found without the lock
//   is a guess: whoever found it locks the slot and compares again, and what it reads then is what
//   the last holder wrote. A miss is a guess too, and is settled by SlotArray under the home's
//   insert lock.
// - The expiry and the heat, read without the lock, pick candidates. Who takes one locks it and
//   reads the expiry again.
//
// TSan holds the plain bytes to this (table_stress_test.cc, under `make tsan`): with a relaxed
// Unlock or TryLock it reports them.
//
// Everything but the fingerprint, the lock, `max_probe_distance`, `heat` and
// `expiry` is read and written under the lock only; those are read without it as hints and
// read again under it.
struct alignas(64) Slot {
  std::atomic<std::uint64_t> high{0};
  std::atomic<std::uint64_t> low{0};
  std::atomic<std::uint32_t> lock{0};                // Lease index + 1 of the holder; 0 is free.
  std::atomic<std::uint16_t> max_probe_distance{0};  // Of the keys whose home this is.
  std::atomic<std::uint8_t> insert_lock{0};          // Held while a key with this home is inserted.
  std::atomic<std::uint8_t> heat{0};  // Uses, saturating; halved by evictors passing by.
  // From here on: what the journal saves.
  std::uint16_t rule = 0;  // Number in the rule directory; 0 is unknown.
  std::uint8_t kind = 0;   // KindOf() its algorithm, a mark or a ban; 0 in a slot never used.
  std::uint8_t spare = 0;
  // Seconds on the table's monotonic clock, rounded up, from which on the key is fresh and the slot
  // may be given away. 0: it is fresh, whatever the state's bytes say.
  std::atomic<std::uint32_t> expiry{0};
  RawState state;
};
static_assert(sizeof(Slot) == 64 && std::is_standard_layout_v<Slot>);
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);
static_assert(offsetof(Slot, rule) == 24);
inline constexpr std::size_t kSlotImageBytes = sizeof(Slot) - offsetof(Slot, rule);

[[nodiscard]] inline Fingerprint FingerprintOf(const Slot& slot) {
  return {.high = slot.high.load(std::memory_order_relaxed),
          .low = slot.low.load(std::memory_order_relaxed)};
}

// The key's state, under the lock.
[[nodiscard]] inline RawState StateOf(const Slot& slot) {
  return slot.expiry.load(std::memory_order_relaxed) == 0 ? RawState{} : slot.state;
}

// Counts one use.
inline void Warm(Slot& slot) {
  const std::uint8_t heat = slot.heat.load(std::memory_order_relaxed);
  slot.heat.store(static_cast<std::uint8_t>(heat + (heat < 255 ? 1 : 0)),
                  std::memory_order_relaxed);
}

// An expiry in a slot's form. Never earlier than `expiry`; 0 only if it is over by `now`. An expiry
// after 2106 is never over by its seconds alone.
inline constexpr std::uint32_t kNoExpirySecond = std::numeric_limits<std::uint32_t>::max();
[[nodiscard]] inline std::uint32_t ExpirySecond(TableInstant expiry, TableInstant now) {
  if (expiry <= now) {
    return 0;
  }
  const auto seconds = std::chrono::ceil<std::chrono::seconds>(expiry.time_since_epoch()).count();
  return static_cast<std::uint32_t>(
      std::clamp<std::int64_t>(seconds, 1, std::int64_t{kNoExpirySecond}));
}
[[nodiscard]] inline std::uint32_t NowSecond(TableInstant now) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(now.time_since_epoch()).count();
  return static_cast<std::uint32_t>(
      std::clamp<std::int64_t>(seconds, 0, std::int64_t{kNoExpirySecond} - 1));
}

// Whether what the slot holds is over at `now`, a NowSecond(). An empty slot's always is.
[[nodiscard]] inline bool IsOver(const Slot& slot, std::uint32_t now) {
  return slot.expiry.load(std::memory_order_relaxed) <= now;
}

[[nodiscard]] bool TryLock(Slot& slot, std::uint32_t owner);
inline void Unlock(Slot& slot) {
  // Pairs with the acquire of the next holder's TryLock. It is also ordered after the journal's
  // Retire for every thread that sees it: no thread overwrites what a record still names.
  slot.lock.store(0, std::memory_order_release);
}
// Spins, then yields: the scheduler may have suspended the holder.
void Pause(unsigned& spins);

inline bool TryLock(Slot& slot, std::uint32_t owner) {
  std::uint32_t free = 0;
  // Acquire pairs with the release in Unlock. A failed attempt reads nothing, so it may be relaxed.
  return slot.lock.compare_exchange_strong(free, owner, std::memory_order_acquire,
                                           std::memory_order_relaxed);
}

inline void Lock(Slot& slot, std::uint32_t owner) {
  unsigned spins = 0;
  while (!TryLock(slot, owner)) {
    Pause(spins);
  }
}

}  // namespace sluice::store
