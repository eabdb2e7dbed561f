#include "store/slot_array.h"

#include <algorithm>
#include <bit>

#include <sched.h>

#include "store/block.h"
#include "store/table_layout.h"

namespace sluice::store {

namespace {

void LockInsert(Slot& home) {
  unsigned spins = 0;
  // Acquire pairs with the release in UnlockInsert: earlier inserts are visible.
  while (home.insert_lock.exchange(1, std::memory_order_acquire) != 0) {
    Pause(spins);
  }
}

void UnlockInsert(Slot& home) {
  // Pairs with the acquire in LockInsert.
  home.insert_lock.store(0, std::memory_order_release);
}

// Tells the processor that this thread spins, so that it leaves power and the core's other thread
// alone for a moment. Orders nothing: leaving it out costs speed, never truth.
void CpuRelax() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  // `yield` does nothing on most cores. `isb` waits for the pipeline, about as long as x86's pause.
  __asm__ volatile("isb");
#endif
}

}  // namespace

void Pause(unsigned& spins) {
  if (++spins % 64 == 0) {
    sched_yield();
  } else {
    CpuRelax();
  }
}

Slot* SlotArray::Insert(const Newcomer& newcomer) {
  Slot* home = &HomeOf(newcomer.key);
  const std::uint32_t now = NowSecond(newcomer.now);
  LockInsert(*home);
  Slot* found = Find(newcomer.key);
  if (found != nullptr) {
    UnlockInsert(*home);
    Lock(*found, newcomer.owner);
    return found;
  }
  found = Claim(home, newcomer, now);
  if (found == nullptr && newcomer.may_evict) {
    found = Evict(home, newcomer);
  }
  if (found != nullptr) {
    // As far as the farthest key of this home that is left. An expired key is erased under its lock
    // before no scan finds it any more, so that no thread that has just found it still uses it.
    auto farthest = static_cast<std::uint16_t>(found - home);
    for (std::uint16_t i = home->max_probe_distance.load(std::memory_order_relaxed); i > farthest;
         --i) {
      if (&HomeOf(FingerprintOf(home[i])) == home && !Forget(home[i], newcomer.owner, now)) {
        farthest = i;
      }
    }
    // Pairs with the acquire in Find. The new key's fingerprint was written by Occupy, above.
    home->max_probe_distance.store(farthest, std::memory_order_release);
  }
  UnlockInsert(*home);
  return found;
}

bool SlotArray::Forget(Slot& slot, std::uint32_t owner, std::uint32_t now) {
  if (!IsOver(slot, now) || !TryLock(slot, owner)) {
    return false;
  }
  const bool over = IsOver(slot, now);
  if (over) {
    Clear(slot);
    slot.high.store(0, std::memory_order_relaxed);
    slot.low.store(0, std::memory_order_relaxed);
  }
  Unlock(slot);
  return over;
}

Slot* SlotArray::Claim(Slot* home, const Newcomer& newcomer, std::uint32_t now) {
  for (Slot* slot = home; slot != home + kProbeBound; ++slot) {
    if (!IsOver(*slot, now) || !TryLock(*slot, newcomer.owner)) {
      continue;
    }
    if (!IsOver(*slot, now)) {
      Unlock(*slot);
      continue;
    }
    if (slot->kind != 0) {
      TableCounters::Add(counters_->reclaimed);
    }
    Occupy(*slot, newcomer);
    return slot;
  }
  return nullptr;
}

void SlotArray::Occupy(Slot& slot, const Newcomer& newcomer) {
  TableCounters::Add(counters_->inserts);
  Clear(slot);
  slot.rule = newcomer.rule;
  slot.kind = newcomer.kind;
  slot.heat.store(0, std::memory_order_relaxed);
  slot.high.store(newcomer.key.high, std::memory_order_relaxed);
  slot.low.store(newcomer.key.low, std::memory_order_relaxed);
}

void SlotArray::Clear(Slot& slot) {
  // First the key is made fresh: a process that is killed after this line leaves a slot with a
  // state that is never read.
  slot.expiry.store(0, std::memory_order_relaxed);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  const BlockRef head = HasList(slot.kind) ? std::bit_cast<ListState>(slot.state).head : 0;
  slot.state = {};
  blocks_->GiveChain(head, 0);
}

std::uint64_t SlotArray::Sweep(TableInstant now, std::uint32_t owner) {
  const std::uint32_t second = NowSecond(now);
  std::uint64_t freed = 0;
  for (std::uint64_t i = 0; i < count_; ++i) {
    Slot& slot = slots_[i];
    if (slot.expiry.load(std::memory_order_relaxed) == 0 || !IsOver(slot, second)) {
      continue;
    }
    Lock(slot, owner);
    if (slot.expiry.load(std::memory_order_relaxed) != 0 && IsOver(slot, second)) {
      Clear(slot);
      ++freed;
    }
    Unlock(slot);
  }
  return freed;
}

std::uint64_t SlotArray::CountLive(TableInstant now) const {
  constexpr std::uint64_t kSample = 65536;
  const std::uint64_t step = std::max<std::uint64_t>(1, count_ / kSample);
  const std::uint32_t second = NowSecond(now);
  std::uint64_t live = 0;
  std::uint64_t looked = 0;
  for (std::uint64_t i = 0; i < count_; i += step) {
    ++looked;
    live += IsOver(slots_[i], second) ? 0U : 1U;
  }
  return looked == 0 ? 0 : live * count_ / looked;
}

}  // namespace sluice::store
