#pragma once

#include <string>
#include <vector>

#include "replay/replay_report.h"
#include "replay/timeline.h"

// Charts for the page, without script: each mark says its numbers in a <title>, which browsers show
// on hover. They are as wide as the page; labels are text of the page, so that they keep their size
// on a phone. Colours come from the page's style sheet.
namespace sluice::replay {

// Requests over time, the denied stacked upon the allowed, with ticks at round times.
[[nodiscard]] std::string TimelineChart(const Timeline& timeline);

// How many keys reached what part of their limit, on a logarithmic scale, for one key above the
// limit matters among thousands below. Keys beyond their limit have the colour of denials.
[[nodiscard]] std::string RatesChart(const std::vector<RateBin>& bins);

}  // namespace sluice::replay
