#pragma once

#include <cstdint>

#include "core/judging.h"
#include "store/block_pool.h"
#include "store/journal.h"
#include "store/slot.h"

namespace sluice::store {

// The changes that a request makes to a key's entries: the oldest `drop` go, then `append` is
// added, merged into the newest if that is of the same `at`. A zero `append.units` adds nothing.
struct EntryChange {
  std::uint32_t drop = 0;
  core::Entry append{};
};

// A key's entries in the form that core/ requires: those in its chain of blocks, with a change
// applied as if it were made already. A view, under the slot's lock.
class EntryView {
 public:
  // The first entry that `drop` leaves; block 0 if it leaves none.
  struct Position {
    BlockRef block = 0;
    std::uint32_t index = 0;
  };

  EntryView(const BlockPool& pool, const ListState& list, const EntryChange& change)
      : pool_(&pool),
        tail_(list.tail),
        change_(change),
        start_(list.head == 0 ? Position{} : StartOf(pool, list, change.drop)) {}

  template <class F>
  void ForEach(F f) const {
    bool merged = false;
    std::uint32_t i = start_.index;
    for (BlockRef ref = start_.block; ref != 0;) {
      const Block& block = pool_->at(ref);
      const std::uint32_t end = block.first() + block.count();
      for (; i < end; ++i) {
        core::Entry entry = block.entry(i);
        if (ref == tail_ && i + 1 == end && Merges(entry)) {
          entry.units += change_.append.units;
          merged = true;
        }
        if (!f(entry)) {
          return;
        }
      }
      ref = block.next();
      i = ref == 0 ? 0 : pool_->at(ref).first();
    }
    if (change_.append.units > 0 && !merged) {
      f(change_.append);
    }
  }

  template <class F>
  void ForEachNewestFirst(F f) const {
    bool newest = true;
    for (BlockRef ref = start_.block == 0 ? 0 : tail_; ref != 0;) {
      const Block& block = pool_->at(ref);
      const std::uint32_t begin = ref == start_.block ? start_.index : block.first();
      for (std::uint32_t i = block.first() + block.count(); i > begin; --i) {
        core::Entry entry = block.entry(i - 1);
        if (newest) {
          newest = false;
          if (Merges(entry)) {
            entry.units += change_.append.units;
          } else if (change_.append.units > 0 && !f(change_.append)) {
            return;
          }
        }
        if (!f(entry)) {
          return;
        }
      }
      ref = ref == start_.block ? 0 : block.prev();
    }
    if (newest && change_.append.units > 0) {
      f(change_.append);
    }
  }

  [[nodiscard]] static Position StartOf(const BlockPool& pool, const ListState& list,
                                        std::uint32_t drop);

 private:
  [[nodiscard]] bool Merges(const core::Entry& newest) const {
    return change_.append.units > 0 && newest.at == change_.append.at;
  }

  const BlockPool* pool_;
  BlockRef tail_;
  EntryChange change_;
  Position start_;
};

// Whether `change` needs a block that the chain does not have.
[[nodiscard]] bool NeedsBlock(const BlockPool& pool, const ListState& list,
                              const EntryChange& change);
// Notes in the journal what Apply will overwrite in blocks.
void SaveBlocks(const BlockPool& pool, const ListState& list, const EntryChange& change,
                Journal& journal);
// Makes the change for the slot with index `slot`. `spare` is a block that was taken because
// NeedsBlock said so; it is 0 afterwards if it was used. Sets the ends of `list`. Returns the first
// block that fell out, 0 if none. The caller gives the blocks up to `*freed_end` back once the
// journal is retired.
[[nodiscard]] BlockRef Apply(BlockPool& pool, ListState& list, std::uint32_t slot,
                             const EntryChange& change, BlockRef& spare, BlockRef* freed_end);

// The end of a chain after `take` units are taken from its newest entries, and the oldest `drop`
// are gone.
struct TailCut {
  BlockRef tail = 0;        // 0: nothing is left.
  std::uint32_t count = 0;  // Of the new tail's entries.
  Units last_units = 0;     // Of the last of them.
};
[[nodiscard]] TailCut CutNewest(const BlockPool& pool, const ListState& list, std::uint32_t drop,
                                Units take);

}  // namespace sluice::store
