#include "store/entry_list.h"

#include "base/assert.h"

namespace sluice::store {

EntryView::Position EntryView::StartOf(const BlockPool& pool, const ListState& list,
                                       std::uint32_t drop) {
  BlockRef ref = list.head;
  while (ref != 0 && drop >= pool.at(ref).count()) {
    drop -= pool.at(ref).count();
    ref = pool.at(ref).next();
  }
  return {.block = ref, .index = ref == 0 ? 0 : pool.at(ref).first() + drop};
}

namespace {

// Of a chain that is not empty: the place of the newest entry in the tail, and the entry.
std::uint32_t NewestPlace(const Block& tail) {
  return tail.first() + tail.count() - 1;
}
core::Entry Newest(const BlockPool& pool, BlockRef tail) {
  return pool.at(tail).entry(NewestPlace(pool.at(tail)));
}

}  // namespace

bool NeedsBlock(const BlockPool& pool, const ListState& list, const EntryChange& change) {
  if (change.append.units == 0) {
    return false;
  }
  if (EntryView::StartOf(pool, list, change.drop).block == 0) {
    return true;
  }
  const Block& tail = pool.at(list.tail);
  return Newest(pool, list.tail).at != change.append.at &&
         tail.first() + tail.count() == kEntriesPerBlock;
}

void SaveBlocks(const BlockPool& pool, const ListState& list, const EntryChange& change,
                Journal& journal) {
  const BlockRef start = EntryView::StartOf(pool, list, change.drop).block;
  if (start == 0) {
    return;  // All entries are dropped together, and no thread writes into the block before that.
  }
  if (change.drop > 0) {
    journal.Save(&pool.at(start), kBlockHeadBytes);
  }
  if (change.append.units > 0) {
    const Block& tail = pool.at(list.tail);
    journal.Save(&tail, kBlockHeadBytes);
    journal.Save(tail.place_of_entry(NewestPlace(tail)), sizeof(core::Entry));
  }
}

BlockRef Apply(BlockPool& pool, ListState& list, std::uint32_t slot, const EntryChange& change,
               BlockRef& spare, BlockRef* freed_end) {
  const BlockRef old_head = list.head;
  const EntryView::Position start = EntryView::StartOf(pool, list, change.drop);
  BlockRef freed = 0;
  *freed_end = start.block;
  if (start.block != old_head) {
    freed = old_head;
  }
  if (start.block == 0) {
    list.head = 0;
    list.tail = 0;
  } else if (change.drop > 0) {
    Block& block = pool.at(start.block);
    block.set_count(block.first() + block.count() - start.index);
    block.set_first(start.index);
    block.set_prev(0);
    list.head = start.block;
  }
  if (change.append.units == 0) {
    return freed;
  }
  if (list.tail != 0) {
    Block& tail = pool.at(list.tail);
    const std::uint32_t place = NewestPlace(tail);
    const core::Entry newest = tail.entry(place);
    if (newest.at == change.append.at) {
      tail.set_entry(place, {.at = newest.at, .units = newest.units + change.append.units});
      return freed;
    }
    if (place + 1 < kEntriesPerBlock) {
      tail.set_entry(place + 1, change.append);
      tail.set_count(tail.count() + 1);
      return freed;
    }
  }
  SLUICE_ASSERT(spare != 0);
  Block& added = pool.at(spare);
  added.Start(slot, BlockKind::kEntries);
  added.set_entry(0, change.append);
  added.set_count(1);
  added.set_prev(list.tail);
  if (list.tail != 0) {
    pool.at(list.tail).set_next(spare);
  } else {
    list.head = spare;
  }
  list.tail = spare;
  spare = 0;
  return freed;
}

TailCut CutNewest(const BlockPool& pool, const ListState& list, std::uint32_t drop, Units take) {
  const EntryView::Position start = EntryView::StartOf(pool, list, drop);
  for (BlockRef ref = start.block == 0 ? 0 : list.tail; ref != 0;) {
    const Block& block = pool.at(ref);
    const std::uint32_t begin = ref == start.block ? start.index : block.first();
    for (std::uint32_t i = block.first() + block.count(); i > begin; --i) {
      const Units units = block.entry(i - 1).units;
      if (units > take) {
        return {.tail = ref, .count = i - begin, .last_units = units - take};
      }
      take -= units;
    }
    ref = ref == start.block ? 0 : block.prev();
  }
  return {};
}

}  // namespace sluice::store
