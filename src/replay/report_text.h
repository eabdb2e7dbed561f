#pragma once

#include <cstddef>
#include <string>

#include "replay/replay_report.h"

namespace sluice::replay {

// The report for a terminal of `width` columns: plain text, UTF-8.
[[nodiscard]] std::string ReportText(const ReplayReport& report, std::size_t width = 100);

// The logs alone: how many requests of what format when, and what was wrong with them.
[[nodiscard]] std::string LogsText(const ReplayReport& report);

}  // namespace sluice::replay
