#pragma once

#include <cstdint>
#include <vector>

#include "sluice/result.h"

#include "store/table_layout.h"

namespace sluice::store {

// What opening a table that another process left behind came upon.
struct RecoveryReport {
  int requests_undone = 0;            // Killed in the middle of their writes.
  std::uint64_t chains_repaired = 0;  // Cut at a link that led nowhere.
  std::vector<bool> blocks_in_use;    // A flag a block.
};

// Makes a file's bytes a table again: undoes unfinished requests, opens all locks, walks
// every chain of blocks, and counts again what is in them. Nothing else looks at the
// bytes meanwhile. An error if the journal cannot be true.
Result<RecoveryReport> Recover(const TableParts& parts);

}  // namespace sluice::store
