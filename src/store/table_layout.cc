#include "store/table_layout.h"

#include <algorithm>

namespace sluice::store {

namespace {

constexpr std::size_t kPage = 4096;
constexpr std::int64_t kFarNs = std::int64_t{1} << 62U;  // 2116, or before 1823.
constexpr const char* kFresh =
    ", or remove the file to start with its last snapshot or, without one, with every key at its "
    "full limit";

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

bool IsPossible(const Geometry& geometry) {
  return geometry.homes >= 1 && geometry.homes <= kMostKeys / 4 * 5 &&
         geometry.blocks <= kMaxBlocks;
}

std::string MisfitOf(const TableHeader& header, std::uint64_t file_bytes) {
  const TableFormat& found = header.format;
  if (header.magic != kTableMagic) {
    return "is not a table of Sluice: give table.path another name, or remove the file";
  }
  TableFormat expected = TableLayout::Of(Geometry{}).format();
  if (found.version < kOldestTableVersion || found.version > kTableVersion) {
    return "is a table of format " + std::to_string(found.version) + ", and this Sluice writes " +
           std::to_string(expected.version) + ": start the Sluice that made it" + kFresh;
  }
  expected.version = found.version;
  expected.geometry = found.geometry;
  expected.file_bytes = found.file_bytes;
  if (found != expected) {
    return std::string("is a table of another build of Sluice: start the one that made it") +
           kFresh;
  }
  const auto is_time = [](std::int64_t ns) { return ns > -kFarNs && ns < kFarNs; };
  if (!is_time(header.clock.offset_ns) || !is_time(header.clock.last_monotonic_ns) ||
      !is_time(header.clock.last_wall_clock_ns) || header.clock.last_monotonic_ns < 0 ||
      !IsPossible(found.geometry) || TableLayout::Of(found.geometry).bytes != found.file_bytes) {
    return std::string("has a damaged header") + kFresh;
  }
  if (found.file_bytes != file_bytes) {
    return "is a table of " + std::to_string(found.file_bytes) + " bytes that was cut to " +
           std::to_string(file_bytes) + kFresh;
  }
  return "";
}

}  // namespace sluice::store
