#pragma once

#include <cstddef>
#include <string>

#include "replay/replay_report.h"

namespace sluice::replay {

// The report for a terminal of `width` columns (at least 40): plain text, UTF-8. No line is longer.
[[nodiscard]] std::string ReportText(const ReplayReport& report, std::size_t width = 80);

// The logs alone: how many requests of what format when, and what was wrong with them.
[[nodiscard]] std::string LogsText(const ReplayReport& report, std::size_t width = 80);

}  // namespace sluice::replay
