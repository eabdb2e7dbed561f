#pragma once

#include <string>

#include "daemon_config.h"

namespace sluice::app {

// Runs the daemon until SIGTERM or SIGINT, and returns what the program ends with: 0 after a
// drained stop, 2 if it could not start (then stderr says why and what to do). Call once, from
// main's thread, before other threads are made: it takes over the process's signals.
[[nodiscard]] int RunDaemon(DaemonConfig config);

}  // namespace sluice::app
