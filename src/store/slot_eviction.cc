#include <algorithm>
#include <array>
#include <bit>

#include "store/block.h"
#include "store/slot_array.h"
#include "store/table_layout.h"

// How a full table makes room: a slot, or blocks, of the key that will be missed least.
namespace sluice::store {

namespace {

// A key that was used less often than this since evictors last passed is not hot.
constexpr std::uint8_t kHot = 2;
constexpr int kEvictionTries = 8;

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

}  // namespace sluice::store
