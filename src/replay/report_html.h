#pragma once

#include <string>

#include "replay/replay_report.h"

namespace sluice::replay {

// The report as one page that needs nothing else: charts are inline SVG, colours follow the
// reader's light or dark setting, nothing is loaded and nothing is run.
[[nodiscard]] std::string ReportHtml(const ReplayReport& report);

}  // namespace sluice::replay
