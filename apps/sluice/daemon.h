#pragma once

#include "daemon_config.h"
#include "lifecycle.h"

namespace sluice::net {
class EventLoop;
}  // namespace sluice::net

namespace sluice::app {

// Runs the daemon until SIGTERM or SIGINT, and returns what the program ends with: 0 after a
// drained stop or one asked for during the start, 2 if it could not start (then stderr says why and
// what to do). `control` is its loop for signals, rule files and the admin listeners, run here;
// `signals` are that loop's. Call once, from main's thread, before other threads are made.
[[nodiscard]] int RunDaemon(DaemonConfig config, net::EventLoop& control, DaemonSignals& signals);

}  // namespace sluice::app
