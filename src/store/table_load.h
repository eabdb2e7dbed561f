#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sluice/result.h"

#include "base/clock.h"
#include "store/table_layout.h"
#include "store/table_snapshot_format.h"

// How keys come into a new table from where they were before. Each leaves the new table's
// header with secret and clock, but without the magic, and says which blocks are in use.
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
[[nodiscard]] Result<RecoveryReport> Recover(const TableParts& parts);

struct LoadReport {
  std::uint64_t keys = 0;
  std::string from;                   // The snapshot's path.
  std::vector<std::string> warnings;  // Why a newer one was not loaded.
  std::vector<bool> blocks_in_use;
};

// From the newest good snapshot: nothing of a bad one is taken. `from` stays empty if none exists.
// Errors: there are some, and none is good; more keys than the table takes.
[[nodiscard]] Result<LoadReport> LoadSnapshot(const SnapshotFiles& files, const TableParts& to);

// Whether LoadSnapshot would find a complete one.
[[nodiscard]] bool HasGoodSnapshot(const SnapshotFiles& files);

// From a table of another size that no other process has open, already recovered.
[[nodiscard]] Result<LoadReport> LoadTable(const TableParts& from, std::vector<bool> blocks_in_use,
                                           const base::Clock& clock, const TableParts& to);

}  // namespace sluice::store
