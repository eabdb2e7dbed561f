#pragma once

#include <string>

#include "sluice/result.h"

namespace sluice::app {

// Copies `snapshot`, which may be of a table with another name or from another host, to where the
// daemon with `config_file` ("": the defaults) looks for its own, and prints the result. An
// existing snapshot becomes the previous one. Errors: the snapshot is invalid; the configuration is
// invalid or keeps no snapshots; the table itself exists, and a start would use it instead.
[[nodiscard]] Result<void> RestoreTable(const std::string& snapshot,
                                        const std::string& config_file);

}  // namespace sluice::app
