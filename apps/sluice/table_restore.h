#pragma once

#include <string>

#include "sluice/result.h"

namespace sluice::app {

// Puts a copy of `snapshot`, which may be of a table of another name or host,
// where the daemon that `config_file` configures ("" the defaults) finds its
// own, and tells what it did on stdout. The snapshot that was there becomes the
// one before. Errors: it is no sound snapshot; the configuration does not load,
// or keeps no snapshots; the table itself is there, which a start would take up
// in its place.
[[nodiscard]] Result<void> RestoreTable(const std::string& snapshot,
                                        const std::string& config_file);

}  // namespace sluice::app
