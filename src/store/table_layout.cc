#include "store/table_layout.h"

#include <algorithm>

namespace sluice::store {

namespace {

constexpr std::size_t kPage = 4096;

std::size_t Pages(std::size_t bytes) {
  return (bytes + kPage - 1) / kPage * kPage;
}

}  // namespace

TableLayout TableLayout::Of(const Geometry& geometry) {
  TableLayout layout;
  layout.geometry = geometry;
  layout.rules = kPage;
  layout.journal = layout.rules + Pages(kRulePlaces * sizeof(RulePlace));
  layout.slots = layout.journal + Pages(kMaxThreads * sizeof(JournalRecord));
  layout.blocks = layout.slots + Pages(layout.slot_count() * sizeof(Slot));
  layout.bytes = layout.blocks + Pages(geometry.blocks * sizeof(Block));
  return layout;
}

// The mapping's bytes are either all zero, which is a valid start for every record (they
// are implicit-lifetime types but for their lock-free atomics, whose zero is zero), or were
// written by this code.
TableParts TableParts::Of(std::span<std::byte> bytes, const TableLayout& layout) {
  std::byte* base = bytes.data();
  return {.bytes = bytes,
          .header = reinterpret_cast<TableHeader*>(base),
          .rules = {reinterpret_cast<RulePlace*>(base + layout.rules), kRulePlaces},
          .journal = {reinterpret_cast<JournalRecord*>(base + layout.journal), kMaxThreads},
          .slots = {reinterpret_cast<Slot*>(base + layout.slots),
                    static_cast<std::size_t>(layout.slot_count())},
          .blocks = {reinterpret_cast<Block*>(base + layout.blocks),
                     static_cast<std::size_t>(layout.geometry.blocks)}};
}

}  // namespace sluice::store
