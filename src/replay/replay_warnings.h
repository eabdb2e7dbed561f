#pragma once

#include <string>
#include <vector>

#include "replay/replay_report.h"
#include "store/table.h"

namespace sluice::replay {

// What is wrong with the logs of `report`, a sentence each, with the remedy.
[[nodiscard]] std::vector<std::string> WarningsOfLogs(const ReplayReport& report);

// What makes `report` less than the truth, a sentence each, with the remedy. `stats` is of the
// table that the replay decided with.
[[nodiscard]] std::vector<std::string> WarningsOf(const ReplayReport& report,
                                                  const store::TableStats& stats);

}  // namespace sluice::replay
