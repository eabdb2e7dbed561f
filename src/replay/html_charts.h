#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "replay/replay_report.h"
#include "replay/timeline.h"

// Charts as inline SVG, without script: each mark says its numbers in a <title>, which browsers
// show on hover. Colours come from the page's style sheet.
namespace sluice::replay {

// `text` with what HTML would take for its own made harmless.
[[nodiscard]] std::string HtmlText(std::string_view text);

// Requests over time, the denied stacked upon the allowed.
[[nodiscard]] std::string TimelineChart(const Timeline& timeline);

// A bar for each key: its requests, and how many of them were denied.
[[nodiscard]] std::string KeysChart(const std::vector<KeyLine>& keys);

// How many keys reached what part of their limit, on a logarithmic scale, for one key above the
// limit matters among thousands below.
[[nodiscard]] std::string RatesChart(const std::vector<RateBin>& bins);

}  // namespace sluice::replay
