#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "store/block.h"
#include "store/journal.h"
#include "store/key_hash.h"
#include "store/monotonic_clock.h"
#include "store/rule_directory.h"
#include "store/slot.h"

// The bytes of a table, in memory and in its file: docs/table-format.md in code.
namespace sluice::store {

// Threads that may decide at the same time.
inline constexpr std::uint32_t kMaxThreads = 256;

// A key lies at most this far behind its home. So there are as many slots behind the last home, and
// no scan wraps around.
inline constexpr std::uint32_t kProbeBound = 512;

inline constexpr std::uint64_t kMostKeys = 200'000'000;

inline constexpr std::array<char, 8> kTableMagic{'S', 'L', 'U', 'I', 'C', 'E', 'T', 'B'};
// 2: a hold keeps its priority. The parts are those of format 1, whose holds have none, so a table
// of format 1 is taken over as it is.
inline constexpr std::uint32_t kTableVersion = 2;
inline constexpr std::uint32_t kOldestTableVersion = 1;

// The sizes of the parts. Two tables with the same geometry can read each other's file.
struct Geometry {
  std::uint64_t homes = 0;   // Keys at the rated load / 0.8.
  std::uint64_t blocks = 0;  // At most kMaxBlocks.

  bool operator==(const Geometry&) const = default;
};

// The sizes of all records, so that a reader with other sizes notices.
struct TableFormat {
  std::uint32_t version = kTableVersion;
  std::uint32_t header_bytes = 0;
  std::uint32_t slot_bytes = sizeof(Slot);
  std::uint32_t block_bytes = sizeof(Block);
  std::uint32_t journal_bytes = sizeof(JournalRecord);
  std::uint32_t threads = kMaxThreads;
  std::uint32_t rule_places = kRulePlaces;
  std::uint32_t probe_bound = kProbeBound;
  Geometry geometry;
  std::uint64_t file_bytes = 0;

  bool operator==(const TableFormat&) const = default;
};

struct TableHeader {
  std::array<char, 8> magic{};  // Written last: a file without it was never finished.
  TableFormat format;
  HashSecret secret{};
  ClockRecord clock;
};
static_assert(sizeof(TableHeader) <= 4096);

// Where the parts begin, in bytes from the start; each on its own page.
struct TableLayout {
  std::size_t rules = 0;
  std::size_t journal = 0;
  std::size_t slots = 0;
  std::size_t blocks = 0;
  std::size_t bytes = 0;
  Geometry geometry;

  [[nodiscard]] static TableLayout Of(const Geometry& geometry);
  [[nodiscard]] TableFormat format() const {
    TableFormat format;
    format.header_bytes = sizeof(TableHeader);
    format.geometry = geometry;
    format.file_bytes = bytes;
    return format;
  }
  [[nodiscard]] std::uint64_t slot_count() const { return geometry.homes + kProbeBound; }
};

// Whether a table can have this geometry: the header of a damaged file may have an impossible one.
[[nodiscard]] bool IsPossible(const Geometry& geometry);
// Why a file of `file_bytes` bytes with this header cannot be taken over, and what to do; "" if
// it can.
[[nodiscard]] std::string MisfitOf(const TableHeader& header, std::uint64_t file_bytes);

// The parts of one mapping.
struct TableParts {
  std::span<std::byte> bytes;
  TableHeader* header = nullptr;
  std::span<RulePlace> rules;
  std::span<JournalRecord> journal;
  std::span<Slot> slots;
  std::span<Block> blocks;

  [[nodiscard]] static TableParts Of(std::span<std::byte> bytes, const TableLayout& layout);
};

}  // namespace sluice::store
