#pragma once

#include <string>

#include "daemon_config.h"

namespace sluice::app {

// The default names of a daemon's files: the port of the first check listener. "" where every port
// is 0, as there is no name to find them by at the next start.
[[nodiscard]] std::string FirstCheckPort(const DaemonConfig& config);

// Where state survives a reboot, and where the table's snapshots are by default: systemd's
// $STATE_DIRECTORY; else /var/lib/sluice for root; else $XDG_STATE_HOME/sluice
// (~/.local/state/sluice). "" where none of these is there. Makes no folder.
[[nodiscard]] std::string StateHome();

// Where what operators do over the API is kept: `rules/<id>.json` and `modes.json` in it. What
// `rule_sources: [{api: {dir}}]` names; else StateHome(), and in it, unless systemd made it for
// this service, a folder named by FirstCheckPort(). "" where none of these is there: then nothing
// is kept beyond the process. Makes no folder.
[[nodiscard]] std::string ApiFolder(const DaemonConfig& config);

// Where the daemon's table lives, and the snapshot that it is loaded from where it is gone. "" for
// none.
struct TableFiles {
  std::string path;
  std::string snapshot;
};
[[nodiscard]] TableFiles FilesOf(const DaemonConfig& config);

}  // namespace sluice::app
