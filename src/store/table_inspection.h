#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "sluice/result.h"
#include "sluice/time.h"

#include "store/table_snapshot_format.h"

namespace sluice::store {

// What a tool can say about the file of a table or about a snapshot.
struct TableInspection {
  bool is_snapshot = false;
  int held_by = 0;  // The process that has the table open; 0: none, as far as the kernel tells.
  std::uint64_t file_bytes = 0;
  std::uint64_t keys_made_for = 0;
  std::uint64_t slots = 0;
  std::uint64_t blocks = 0;
  std::uint64_t blocks_in_use = 0;  // Of a table.
  std::uint64_t keys = 0;           // Not over.
  std::vector<std::string> rules;   // Names by number; [0] is "".
  // What the table's clock would read now, and how long ago, by the wall clock, it was last used.
  TableInstant now{};
  Duration age{};
  // What the next open must repair in a table that is not in use: requests that a killed process
  // had not finished, and chains of blocks with an invalid link.
  int requests_undone = 0;
  std::uint64_t chains_repaired = 0;
};

// Reads all of `path`, changing nothing, and hands every key that is not over to `sink`; then
// tells about the file. A table that a process has open is seen as it was at some moments of
// the reading, and takes as much memory here as it has bytes. Errors: as Table::Create and the
// loading of a snapshot would say.
[[nodiscard]] Result<TableInspection> InspectTable(const std::string& path, KeySink& sink);

}  // namespace sluice::store
