#pragma once

#include <string>

#include "replay/replay_report.h"

namespace sluice::replay {

// The report as one JSON object, everything in it: docs/replay.md says what each member is.
[[nodiscard]] std::string ReportJson(const ReplayReport& report);

}  // namespace sluice::replay
