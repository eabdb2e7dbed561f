#pragma once

#include <cstdint>

#include "sluice/time.h"

#include "core/concurrency.h"
#include "core/quota.h"
#include "store/block_pool.h"
#include "store/journal.h"
#include "store/key_store.h"
#include "store/slot.h"

namespace sluice::store {

// The holds of a key under `concurrency`, in a chain of blocks with a mask of the places in
// use. All under the slot's lock.
//
// A hold's id contains its place (28 bits of block, 2 of place) and 34 random bits. So a release
// nearly always looks at one place, and works once.
//
// The units in flight can always be counted again from the masks, and recovery does so. Dropping
// and releasing holds therefore need no journal.
class HoldList {
 public:
  HoldList(BlockPool& pool, std::uint32_t slot_index, RawState& state)
      : pool_(&pool), slot_(slot_index), state_(&state) {}

  // Drops what has expired, as core::Concurrency asks before a step.
  void DropExpired(TableInstant now);

  // Free places in the newest block.
  [[nodiscard]] std::uint32_t Room() const;
  void SaveBlocks(Journal& journal) const;
  // How many free slots are reserved for priorities other than the quota's, given the holds in
  // `state`. Reads every hold if the quota has reserves, otherwise none.
  [[nodiscard]] static Units KeptFree(const BlockPool& pool, const RawState& state,
                                      const core::Quota& quota);
  struct Grant {
    Units units = 0;
    core::PriorityTag priority = 0;
  };
  // Adds a hold; the step has updated the counts in the state. Takes `spare`, a chain of blocks
  // along `next`, if there is no room. `random` is any number.
  HoldId Add(const Grant& grant, TableInstant expiry, std::uint64_t random, BlockRef& spare);

  // False if the key has no such hold. Renewing sets its expiry, and the state's bounds to hold it.
  bool Release(HoldId id);
  bool Renew(HoldId id, TableInstant expiry);

  // The place that an id names. A hold that was loaded may lie elsewhere in its key's chain: its
  // block may be one that this table does not have, or that another key had first.
  [[nodiscard]] static BlockRef BlockOf(HoldId id) { return static_cast<BlockRef>(id >> 36U); }
  [[nodiscard]] static std::uint32_t PlaceOf(HoldId id) {
    return static_cast<std::uint32_t>((id >> 34U) & 3U);
  }

 private:
  struct Place {
    BlockRef block = 0;  // 0: nowhere.
    std::uint32_t index = 0;
  };
  [[nodiscard]] Place Find(HoldId id) const;
  [[nodiscard]] std::int64_t LastExpiry() const;
  void Unlink(BlockRef ref);
  [[nodiscard]] ListState list() const;
  void set_list(const ListState& list);

  BlockPool* pool_;
  std::uint32_t slot_;
  RawState* state_;
};

}  // namespace sluice::store
