#include "store/hold_list.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <limits>
#include <span>

#include "base/assert.h"

namespace sluice::store {

namespace {

using State = core::Concurrency::State;

constexpr std::uint32_t kFullMask = (1U << kHoldsPerBlock) - 1;

State CoreOf(const ListState& list) {
  return std::bit_cast<State>(list.core);
}

}  // namespace

ListState HoldList::list() const {
  return std::bit_cast<ListState>(*state_);
}

void HoldList::set_list(const ListState& list) {
  *state_ = std::bit_cast<RawState>(list);
}

void HoldList::DropExpired(TableInstant now) {
  const std::int64_t now_ns = now.time_since_epoch().count();
  ListState before = list();
  // The bound may be too early, never too late: most calls end here, without a walk.
  if (before.head == 0 || now_ns < CoreOf(before).next_expiry_ns) {
    return;
  }
  State left{.in_flight = 0,
             .next_expiry_ns = std::numeric_limits<std::int64_t>::max(),
             .last_expiry_ns = 0};
  for (BlockRef ref = before.head; ref != 0;) {
    Block& block = pool_->at(ref);
    const BlockRef next = block.next();
    std::uint32_t mask = block.first();
    for (std::uint32_t i = 0; i < kHoldsPerBlock; ++i) {
      if ((mask & (1U << i)) == 0) {
        continue;
      }
      const Hold hold = block.hold(i);
      if (hold.expiry_ns <= now_ns) {
        mask &= ~(1U << i);
        continue;
      }
      left.in_flight += hold.units();
      left.next_expiry_ns = std::min(left.next_expiry_ns, hold.expiry_ns);
      left.last_expiry_ns = std::max(left.last_expiry_ns, hold.expiry_ns);
    }
    block.set_first(mask);
    if (mask == 0) {
      Unlink(ref);
    }
    ref = next;
  }
  ListState after = list();
  if (after.head == 0) {
    left = {};
  }
  after.core = std::bit_cast<decltype(after.core)>(left);
  set_list(after);
}

std::uint32_t HoldList::Room() const {
  const ListState at = list();
  return at.tail == 0 ? 0
                      : kHoldsPerBlock - static_cast<std::uint32_t>(
                                             std::popcount(pool_->at(at.tail).first() & kFullMask));
}

void HoldList::SaveBlocks(Journal& journal) const {
  const ListState at = list();
  if (at.tail != 0) {
    journal.Save(&pool_->at(at.tail), kBlockHeadBytes);
  }
}

Units HoldList::KeptFree(const BlockPool& pool, const RawState& state, const core::Quota& quota) {
  if (quota.reserves == nullptr) {
    return 0;
  }
  // Walks all holds, which only quotas with reserves pay for.
  const auto shares = quota.reserves->shares();
  std::array<Units, core::Reserves::kMost> in_flight{};
  for (BlockRef ref = std::bit_cast<ListState>(state).head; ref != 0; ref = pool.at(ref).next()) {
    const Block& block = pool.at(ref);
    for (std::uint32_t mask = block.first(); mask != 0; mask &= mask - 1) {
      const Hold hold = block.hold(static_cast<std::uint32_t>(std::countr_zero(mask)));
      const auto share = std::ranges::find(shares, hold.priority(), &core::Reserve::tag);
      if (share != shares.end()) {
        in_flight[static_cast<std::size_t>(share - shares.begin())] += hold.units();
      }
    }
  }
  return quota.reserves->KeptFree(quota.limit, quota.priority,
                                  std::span(in_flight).first(shares.size()));
}

HoldId HoldList::Add(const Grant& grant, TableInstant expiry, std::uint64_t random,
                     BlockRef& spare) {
  ListState at = list();
  if (at.tail == 0 || (pool_->at(at.tail).first() & kFullMask) == kFullMask) {
    SLUICE_ASSERT(spare != 0);
    const BlockRef added = spare;
    spare = pool_->at(added).next();
    Block& block = pool_->at(added);
    block.Start(slot_, BlockKind::kHolds);
    block.set_prev(at.tail);
    if (at.tail != 0) {
      pool_->at(at.tail).set_next(added);
    } else {
      at.head = added;
    }
    at.tail = added;
    set_list(at);
  }
  Block& block = pool_->at(at.tail);
  const std::uint32_t mask = block.first();
  const auto place = static_cast<std::uint32_t>(std::countr_one(mask));
  // The id says where the hold is, so that Find() seldom searches. Its random part tells it from
  // those that were there before.
  const HoldId id = (std::uint64_t{at.tail} << 36U) | (std::uint64_t{place} << 34U) |
                    (random & ((std::uint64_t{1} << 34U) - 1));
  block.set_hold(place, {.id = id,
                         .expiry_ns = expiry.time_since_epoch().count(),
                         .charge = Hold::ChargeOf(grant.units, grant.priority)});
  block.set_first(mask | (1U << place));
  return id;
}

HoldList::Place HoldList::Find(HoldId id) const {
  const auto is_at = [&](BlockRef ref, std::uint32_t place) {
    const Block& block = pool_->at(ref);
    return (block.first() & (1U << place)) != 0 && block.hold(place).id == id;
  };
  const BlockRef own = BlockOf(id);
  if (own != 0 && own <= pool_->total()) {
    // The block's owner may change under another key's lock, but not to or from this slot.
    const bool ours = pool_->at(own).kind() == BlockKind::kHolds && pool_->at(own).owner() == slot_;
    if (ours && is_at(own, PlaceOf(id))) {
      return {.block = own, .index = PlaceOf(id)};
    }
  }
  // The key may lie in other blocks by now: a snapshot or a change of size copies it.
  for (BlockRef ref = list().head; ref != 0; ref = pool_->at(ref).next()) {
    for (std::uint32_t place = 0; place < kHoldsPerBlock; ++place) {
      if (is_at(ref, place)) {
        return {.block = ref, .index = place};
      }
    }
  }
  return {};
}

// Of a key with holds: when the last of them expires.
std::int64_t HoldList::LastExpiry() const {
  std::int64_t last = 0;
  for (BlockRef ref = list().head; ref != 0; ref = pool_->at(ref).next()) {
    const Block& block = pool_->at(ref);
    for (std::uint32_t mask = block.first(); mask != 0; mask &= mask - 1) {
      const Hold hold = block.hold(static_cast<std::uint32_t>(std::countr_zero(mask)));
      last = std::max(last, hold.expiry_ns);
    }
  }
  return last;
}

bool HoldList::Release(HoldId id) {
  const Place place = Find(id);
  if (place.block == 0) {
    return false;
  }
  Block& block = pool_->at(place.block);
  const Units units = block.hold(place.index).units();
  const std::int64_t expiry_ns = block.hold(place.index).expiry_ns;
  block.set_first(block.first() & ~(1U << place.index));
  if (block.first() == 0) {
    Unlink(place.block);
  }
  ListState at = list();
  State state = CoreOf(at);
  state.in_flight -= units;
  if (at.head == 0) {
    state = {};
  } else if (expiry_ns == state.last_expiry_ns) {
    state.last_expiry_ns = LastExpiry();
  }
  at.core = std::bit_cast<decltype(at.core)>(state);
  set_list(at);
  return true;
}

// The bounds grow first, and shrink last: a process killed in between leaves a hold that expires as
// it would have, within bounds that are too wide and no more.
bool HoldList::Renew(HoldId id, TableInstant expiry) {
  const Place place = Find(id);
  if (place.block == 0) {
    return false;
  }
  Block& block = pool_->at(place.block);
  const std::int64_t before_ns = block.hold(place.index).expiry_ns;
  const std::int64_t expiry_ns = expiry.time_since_epoch().count();
  ListState at = list();
  State state = CoreOf(at);
  const bool was_last = before_ns == state.last_expiry_ns;
  const auto set_bounds = [&](std::int64_t next_ns, std::int64_t last_ns) {
    state.next_expiry_ns = next_ns;
    state.last_expiry_ns = last_ns;
    at.core = std::bit_cast<decltype(at.core)>(state);
    set_list(at);
  };
  set_bounds(std::min(state.next_expiry_ns, expiry_ns), std::max(state.last_expiry_ns, expiry_ns));
  std::atomic_signal_fence(std::memory_order_seq_cst);
  block.set_hold_expiry(place.index, expiry_ns);
  if (was_last && expiry_ns < before_ns) {
    std::atomic_signal_fence(std::memory_order_seq_cst);
    set_bounds(state.next_expiry_ns, LastExpiry());
  }
  return true;
}

void HoldList::Unlink(BlockRef ref) {
  ListState at = list();
  const Block& block = pool_->at(ref);
  const BlockRef next = block.next();
  const BlockRef prev = block.prev();
  if (prev != 0) {
    pool_->at(prev).set_next(next);
  } else {
    at.head = next;
  }
  if (next != 0) {
    pool_->at(next).set_prev(prev);
  } else {
    at.tail = prev;
  }
  set_list(at);
  pool_->Give(ref);
}

}  // namespace sluice::store
