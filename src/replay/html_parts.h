#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "replay/replay_report.h"
#include "replay/timeline.h"

namespace sluice::replay {

// `text` as HTML: markup is escaped, and characters that are not displayable (base/display_text.h)
// are written out. Always valid UTF-8.
[[nodiscard]] std::string HtmlText(std::string_view text);

// The same for a text from a client, truncated, in an element that isolates its text direction.
// Lines may break anywhere in it.
[[nodiscard]] std::string HtmlClientText(std::string_view text);

// Charts for the page, without script: each mark has its numbers in a <title>, which browsers show
// on hover. They are as wide as the page. Labels are text of the page, so they keep their size on a
// phone. Colours are in the page's style sheet.

// Requests over time, the denied stacked on the allowed, with ticks at round times.
[[nodiscard]] std::string TimelineChart(const Timeline& timeline);

// How many keys reached which share of their limit, on a logarithmic scale, because one key above
// the limit matters among thousands below. Keys above their limit have the colour of denials.
[[nodiscard]] std::string RatesChart(const std::vector<RateBin>& bins);

// A list of keys: for each its requests as a bar, how many were denied and, if the report has it,
// what the denied ones were.
[[nodiscard]] std::string KeyList(const RuleReport& rule, const std::vector<KeyLine>& keys);

}  // namespace sluice::replay
