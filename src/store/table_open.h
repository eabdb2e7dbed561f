#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sluice/result.h"

#include "base/clock.h"
#include "store/mapping.h"
#include "store/table_core.h"
#include "store/table_layout.h"

namespace sluice::store {

struct TableOptions {
  std::string path;                // Empty: plain memory. Else a file, best under /dev/shm.
  std::uint64_t keys = 1'000'000;  // Live keys that the table is made for. 1 to kMostKeys.
  std::uint64_t blocks = 0;        // For logs, sliding windows and holds; 0: a quarter of `keys`.
  WhenFull when_full = WhenFull::kEvict;
  bool huge_pages = true;  // Ask the kernel for them.
  // Where WriteSnapshot() writes, and where a table without a file starts from: a file's name in a
  // folder that outlives a reboot. Empty: no snapshots.
  std::string snapshot{};
};

// What the opening of a table found.
struct TableOpening {
  bool resumed = false;               // Its file was there, of whatever size.
  bool resized = false;               // It had another number of keys or blocks.
  std::string loaded_from;            // The snapshot, if the keys come from one.
  std::uint64_t keys = 0;             // How many were loaded or moved.
  int requests_undone = 0;            // Requests that its last process left half written.
  std::vector<std::string> warnings;  // For the log.
};

// A table's bytes, with all that can be known before the first decision. Complete except for the
// magic number, which is written last in a new file.
struct TableBytes {
  Mapping mapping;
  TableParts parts;
  std::vector<bool> blocks_in_use;
  TableOpening opening;

  // Nothing was taken over: no key, no clock.
  [[nodiscard]] bool is_new() const { return !opening.resumed && opening.loaded_from.empty(); }
};

// Finds the state that `options` names, in this order: the file, if a process of this boot left
// it, made to fit where keys or blocks have changed; the newest good snapshot; the file of an
// earlier boot, which is none on a tmpfs; nothing. Errors as Table::Create says.
[[nodiscard]] Result<TableBytes> OpenTableBytes(const TableOptions& options,
                                                const base::Clock& clock);

}  // namespace sluice::store
