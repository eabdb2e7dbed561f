#pragma once

#include <string>

#include "sluice/result.h"

namespace sluice::app {

// Prints every key in use of a table or snapshot, one JSON object per line. A table does not
// contain the text of keys, so a key is identified by its fingerprint, which differs between
// tables. Errors: the file is neither, or cannot be read.
[[nodiscard]] Result<void> DumpTable(const std::string& path);

}  // namespace sluice::app
