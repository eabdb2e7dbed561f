#pragma once

#include <string>

#include "daemon_config.h"

namespace sluice::app {

// Where what operators do over the API is kept: `rules/<id>.json` and `modes.json` in it. What
// `rule_sources: [{api: {dir}}]` names; else systemd's $STATE_DIRECTORY; else
// $XDG_STATE_HOME/sluice/PORT (~/.local/state/sluice/PORT), named for the first check listener, so
// that the next start finds it. "" where none of these is there, as where every port is 0: then
// nothing is kept beyond the process. Makes no folder.
[[nodiscard]] std::string StateFolder(const DaemonConfig& config);

}  // namespace sluice::app
