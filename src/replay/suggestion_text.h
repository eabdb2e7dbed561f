#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/decision.h"
#include "sluice/time.h"

#include "replay/replay_report.h"
#include "replay/suggestion.h"

namespace sluice::replay {

// The rule of a limit, as an entry of a rule file: the one that a suggestion prints and is judged
// by.
[[nodiscard]] std::string SuggestedRuleText(std::string_view id,
                                            const std::vector<std::string>& key, Units limit,
                                            Duration window);
// The suggestion as text for a terminal of `width` columns: a table, and a rule to paste.
[[nodiscard]] std::string SuggestionText(const Suggestion& suggestion,
                                         const std::vector<std::string>& key,
                                         const std::string& cost, std::size_t width = 80);
// All of them as one JSON object, with what `report` says of the logs.
[[nodiscard]] std::string SuggestionsJson(const std::vector<Suggestion>& suggestions,
                                          const std::vector<std::string>& key,
                                          const ReplayReport& report);

}  // namespace sluice::replay
