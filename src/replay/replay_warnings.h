#pragma once

#include <string>
#include <vector>

#include "replay/replay_report.h"
#include "store/table.h"

namespace sluice::replay {

// What makes `report` less than the truth, a sentence each, with the remedy. `stats` is of the
// table that the replay decided with.
[[nodiscard]] std::vector<std::string> WarningsOf(const ReplayReport& report,
                                                  const store::TableStats& stats);

}  // namespace sluice::replay
