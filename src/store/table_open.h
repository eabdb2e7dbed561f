#pragma once

#include <vector>

#include "sluice/result.h"

#include "base/clock.h"
#include "store/mapping.h"
#include "store/table_layout.h"
#include "store/table_options.h"

namespace sluice::store {

// A table's bytes, with all that can be known before anyone decides on them. All is there but
// the magic, which is the last to be written where the file is new.
struct TableBytes {
  Mapping mapping;
  TableParts parts;
  std::vector<bool> blocks_in_use;
  TableOpening opening;

  // Nothing was taken over: no key, no time line.
  [[nodiscard]] bool is_new() const { return !opening.resumed && opening.loaded_from.empty(); }
};

// Finds the state that `options` names, in this order: the file, if a process of this boot left
// it, made to fit where keys or blocks have changed; the newest good snapshot; the file of an
// earlier boot, which is none on a tmpfs; nothing. Errors as Table::Create says.
[[nodiscard]] Result<TableBytes> OpenTableBytes(const TableOptions& options,
                                                const base::Clock& clock);

}  // namespace sluice::store
