#include "store/slot_array.h"

#include <algorithm>
#include <array>
#include <bit>

#include <sched.h>

#include "base/cpu_relax.h"
#include "store/block.h"
#include "store/table_layout.h"

namespace sluice::store {

namespace {

// A key that was used less often than this since evictors last passed is not hot.
constexpr std::uint8_t kHot = 2;
constexpr int kEvictionTries = 8;

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

bool IsOver(const Slot& slot, std::uint32_t now) {
  return slot.expiry.load(std::memory_order_relaxed) <= now;
}

// Finds the key closest to its full quota that is not hot. A hot key that would have been it is
// spared this time, at half its heat: once a look, though it may be come to once for each of its
// blocks (as far as the last few that were spared are remembered).
class Victim {
 public:
  void Consider(Slot& slot) {
    const std::uint32_t expiry = slot.expiry.load(std::memory_order_relaxed);
    if (slot_ != nullptr && expiry >= expiry_) {
      return;
    }
    const std::uint8_t heat = slot.heat.load(std::memory_order_relaxed);
    if (heat >= kHot) {
      if (std::ranges::find(spared_, &slot) == spared_.end()) {
        spared_[next_spared_++ % spared_.size()] = &slot;
        slot.heat.store(heat / 2, std::memory_order_relaxed);
        if (least_hot_ == nullptr || heat < least_heat_) {
          least_hot_ = &slot;
          least_heat_ = heat;
        }
      }
      return;
    }
    slot_ = &slot;
    expiry_ = expiry;
  }
  // Locks it. False if it has changed in the meantime, or if there is none.
  bool Take(std::uint32_t owner) {
    if (slot_ == nullptr || !TryLock(*slot_, owner)) {
      return false;
    }
    if (slot_->expiry.load(std::memory_order_relaxed) != expiry_) {
      Unlock(*slot_);
      return false;
    }
    return true;
  }
  // The same if all were hot: the least hot of those that were spared.
  bool TakeLeastHot(std::uint32_t owner) {
    slot_ = least_hot_;
    expiry_ = slot_ == nullptr ? 0 : slot_->expiry.load(std::memory_order_relaxed);
    return Take(owner);
  }
  [[nodiscard]] Slot* slot() const { return slot_; }

 private:
  Slot* slot_ = nullptr;
  std::uint32_t expiry_ = 0;
  std::array<const Slot*, 8> spared_{};
  std::size_t next_spared_ = 0;
  Slot* least_hot_ = nullptr;
  std::uint8_t least_heat_ = 0;
};

}  // namespace

void Pause(unsigned& spins) {
  if (++spins % 64 == 0) {
    sched_yield();
  } else {
    base::CpuRelax();
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

Slot* SlotArray::Evict(Slot* home, const Newcomer& newcomer) {
  for (int i = 0; i < kEvictionTries; ++i) {
    Victim victim;
    for (Slot* slot = home; slot != home + kProbeBound; ++slot) {
      if (slot->lock.load(std::memory_order_relaxed) == 0) {
        victim.Consider(*slot);
      }
    }
    if (victim.Take(newcomer.owner)) {
      TableCounters::Add(counters_->evictions);
      Occupy(*victim.slot(), newcomer);
      return victim.slot();
    }
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

bool SlotArray::FreeBlocks(TableInstant now, std::uint32_t owner, FromKeys from) {
  const std::uint32_t total = blocks_->total();
  if (total == 0) {
    return false;
  }
  const std::uint32_t second = NowSecond(now);
  const std::uint32_t look = std::min(kBlocksPerLook, total);
  const std::uint32_t start = block_hand_.fetch_add(look, std::memory_order_relaxed);
  Victim victim;
  bool freed = false;
  for (std::uint32_t i = 0; i < look; ++i) {
    const Block& block = blocks_->at((start + i) % total + 1);
    const std::uint32_t index = block.owner();
    if (block.kind() == BlockKind::kFree || index >= count_ ||
        slots_[index].lock.load(std::memory_order_relaxed) != 0) {
      continue;
    }
    Slot& slot = slots_[index];
    if (!IsOver(slot, second)) {
      victim.Consider(slot);
      continue;
    }
    if (TryLock(slot, owner)) {
      freed = (IsOver(slot, second) && TakeBlocksOf(slot)) || freed;
      Unlock(slot);
    }
  }
  if (freed || from == FromKeys::kNone) {
    return freed;
  }
  if (!victim.Take(owner) && (from != FromKeys::kAny || !victim.TakeLeastHot(owner))) {
    return false;
  }
  freed = TakeBlocksOf(*victim.slot());
  if (freed) {
    TableCounters::Add(counters_->block_evictions);
  }
  Unlock(*victim.slot());
  return freed;
}

// Of a locked slot. False if it has none.
bool SlotArray::TakeBlocksOf(Slot& slot) {
  const bool has = HasList(slot.kind) && std::bit_cast<ListState>(slot.state).head != 0;
  if (has) {
    Clear(slot);
  }
  return has;
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
