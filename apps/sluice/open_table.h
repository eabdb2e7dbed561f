#pragma once

#include <memory>
#include <string>

#include "sluice/result.h"

#include "base/clock.h"
#include "daemon_config.h"
#include "store/table.h"
#include "telemetry/registry.h"

namespace sluice::app {

// The daemon's table, and what to call it.
struct OpenedTable {
  std::unique_ptr<store::Table> store;
  std::string snapshot;     // The file that its snapshots are written to; "" for none.
  std::string description;  // "table /dev/shm/sluice-0-8080.table, 1000000 keys, 96 MiB, resumed"

  // Occupancy, and events because of a full table. The table outlives the registry's scrapes.
  void AddMetrics(telemetry::Registry& registry) const;
};

// Where the daemon's table lives, and the snapshot that it is loaded from where it is gone. "" for
// none.
struct TableFiles {
  std::string path;
  std::string snapshot;
};
[[nodiscard]] TableFiles FilesOf(const DaemonConfig& config);

// Opens what config.table says. Its path left out: a file under /dev/shm named for user and
// port, which the next start finds, also after a kill; where every check listener's port is 0
// there is no name to find it by, so it lives in plain memory and ends with the process.
// What was found is logged: keys that a snapshot had, a changed size, a snapshot passed over.
// Errors say what to do.
[[nodiscard]] Result<OpenedTable> OpenTable(const DaemonConfig& config, const base::Clock& clock);

}  // namespace sluice::app
