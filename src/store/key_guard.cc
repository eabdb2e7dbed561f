#include "store/key_guard.h"

#include <algorithm>
#include <bit>

#include "store/ban_list.h"
#include "store/block.h"
#include "store/hold_list.h"
#include "store/judge.h"

namespace sluice::store {

namespace {

// Both are locked. The blocks of the state change their owner. Recovery finds the owner through the
// slot, so they need no journal.
void Move(TableCore& core, const Turn& turn, Slot& former, Slot& own) {
  core.slots.Clear(own);  // Its old state is over; its blocks must not be lost.
  Journal journal(core.base, core.journal[turn.thread]);
  journal.Save(&own.rule, kSlotImageBytes);
  journal.Save(&former.rule, kSlotImageBytes);
  journal.Publish();
  own.state = former.state;
  own.expiry.store(former.expiry.load(std::memory_order_relaxed), std::memory_order_relaxed);
  if (const BlockKind kind = BlocksOf(own.kind); kind != BlockKind::kFree) {
    const std::uint32_t owner = core.slots.IndexOf(own);
    for (BlockRef ref = std::bit_cast<ListState>(own.state).head; ref != 0;) {
      core.blocks.at(ref).set_owner(owner, kind);
      ref = core.blocks.at(ref).next();
    }
  }
  former.expiry.store(0, std::memory_order_relaxed);
  former.state = {};
  journal.Retire();
  // Outside the journal: heat that a kill loses is only learnt again.
  own.heat.store(former.heat.load(std::memory_order_relaxed), std::memory_order_relaxed);
}

}  // namespace

KeyGuard::KeyGuard(TableCore& core, const Turn& turn, const core::KeyView& key,
                   const core::Quota& quota) {
  AdoptFormer(core, turn, key, quota, nullptr);
  if (!LockLive(core, turn, core.hash.Of(key.rule, key, quota), quota)) {
    (void)std::ranges::any_of(key.formerly, [&](const std::string& id) {
      return LockLive(core, turn, core.hash.Of(id, key, quota), quota);
    });
  }
}

KeyGuard::~KeyGuard() {
  if (slot_ != nullptr) {
    Unlock(*slot_);
  }
}

bool KeyGuard::LockLive(TableCore& core, const Turn& turn, const Fingerprint& key,
                        const core::Quota& quota) {
  for (;;) {
    Slot* slot = core.slots.Find(key);
    if (slot == nullptr) {
      return false;
    }
    Lock(*slot, turn.owner());
    const bool ours = FingerprintOf(*slot) == key;
    if (ours && Counts(quota, StateOf(*slot), core.blocks, turn.now.monotonic)) {
      slot_ = slot;
      return true;
    }
    // Ours but full again: there is nothing to guard. Another key's: the slot has changed hands
    // since Find(), so look again.
    Unlock(*slot);
    if (ours) {
      return false;
    }
  }
}

void MoveState(TableCore& core, const Turn& turn, const Fingerprint& from,
               const SlotArray::Newcomer& to, const core::Quota& quota) {
  // Of a locked slot. Expired holds do not count, even if the bound that they left is later.
  const auto counts = [&](Slot& slot) {
    if (BlocksOf(slot.kind) == BlockKind::kHolds && StateOf(slot) != RawState{}) {
      HoldList(core.blocks, core.slots.IndexOf(slot), slot.state).DropExpired(turn.now.monotonic);
    }
    return Counts(quota, StateOf(slot), core.blocks, turn.now.monotonic);
  };
  for (bool again = true; again;) {
    Slot* former = core.slots.Find(from);
    if (former == nullptr ||
        former->expiry.load(std::memory_order_relaxed) <= NowSecond(turn.now.monotonic)) {
      return;
    }
    // Without room the state stays under the former id, where KeyGuard looks too.
    Slot* own = core.slots.Insert(to);
    if (own == nullptr) {
      return;
    }
    again = true;
    if (FingerprintOf(*own) == to.key) {
      if (!TryLock(*former, turn.owner())) {
        // Waits for its owner without holding any lock, and starts again.
        Unlock(*own);
        Lock(*former, turn.owner());
        Unlock(*former);
        continue;
      }
      again = FingerprintOf(*former) != from;
      if (!again && counts(*former) && !counts(*own)) {
        Move(core, turn, *former, *own);
      }
      Unlock(*former);
    }
    Unlock(*own);
  }
}

void AdoptFormer(TableCore& core, const Turn& turn, const core::KeyView& key,
                 const core::Quota& quota, const core::Ban* ban) {
  for (const std::string& id : key.formerly) {
    if (id == key.rule) {
      continue;
    }
    if (!quota.unlimited) {
      MoveState(core, turn, core.hash.Of(id, key, quota),
                {.key = core.hash.Of(key.rule, key, quota),
                 .rule = core.rules.NumberOf(key.rule),
                 .kind = KindOf(quota.algorithm),
                 .now = turn.now.monotonic,
                 .owner = turn.owner(),
                 .may_evict = core.when_full == WhenFull::kEvict},
                quota);
    }
    if (ban != nullptr) {
      AdoptBan(core, turn, key, id, *ban);
    }
  }
}

}  // namespace sluice::store
