#pragma once

#include <string>

#include "sluice/result.h"

namespace sluice::app {

// Prints every key of a table or snapshot that is not fresh, a JSON object a line. Nothing in a
// table knows a key's text, so a key is named by its fingerprint, which is another one in another
// table. Errors: the file is none of these, or cannot be read.
[[nodiscard]] Result<void> DumpTable(const std::string& path);

}  // namespace sluice::app
