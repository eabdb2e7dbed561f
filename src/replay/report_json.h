#pragma once

#include <string>

#include "replay/replay_report.h"
#include "wire/json_writer.h"

namespace sluice::replay {

// The members `logs`, `bad_lines` and `warnings` of the object under way: what was read, and what
// was wrong with it.
void WriteLogs(wire::JsonWriter& json, const ReplayReport& report);

// The report as one JSON object, everything in it: docs/replay.md says what each member is.
[[nodiscard]] std::string ReportJson(const ReplayReport& report);

}  // namespace sluice::replay
