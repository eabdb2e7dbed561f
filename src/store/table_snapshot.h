#pragma once

#include <string>

#include "sluice/result.h"

namespace sluice::store {

// The files of one table's snapshots: the newest, the one before it, and the one that is being
// written. All in one folder, so that a finished one takes its place at once.
struct SnapshotFiles {
  std::string newest;  // Empty: the table has no snapshots.

  [[nodiscard]] std::string previous() const { return newest + ".previous"; }
  [[nodiscard]] std::string unfinished() const { return newest + ".new"; }

  // The newest becomes the previous one, the unfinished one the newest. At every moment at least
  // one of them exists. Returns when the names are on the disk too.
  [[nodiscard]] Result<void> Publish() const;
};

}  // namespace sluice::store
