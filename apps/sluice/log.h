#pragma once

#include <string>

#include "daemon_config.h"

namespace sluice::app {

// Sets up spdlog's default logger: to stderr, from its own thread, so that a slow terminal or pipe
// never delays an answer (when its queue is full, the oldest lines go). Lines are text, or one JSON
// object each.
void StartLog(const std::string& level, LogFormat format);

// Writes what is queued. Call once, last.
void StopLog();

}  // namespace sluice::app
