#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/decision.h"
#include "sluice/time.h"

#include "core/quota.h"

// Numbers formatted for people. Pure.
namespace sluice::replay {

[[nodiscard]] std::string Grouped(std::uint64_t number);  // 1,234,567
[[nodiscard]] std::string Grouped(Units units);
// "12.5 %"; "0 %" only for exactly 0, "< 0.01 %" for very small shares.
[[nodiscard]] std::string Percent(std::uint64_t part, std::uint64_t whole);
// "1m", "15m", "250ms": as in rule files.
[[nodiscard]] std::string WindowText(Duration window);
// "1 m 26 s", "29.6 days".
[[nodiscard]] std::string SpanText(Duration span);
// "2025-12-17 09:03:01", in UTC.
[[nodiscard]] std::string InstantText(WallInstant at);
// "90 % up to", or "the highest" for 1,000,000 ppm: the label of a percentile of keys.
[[nodiscard]] std::string ShareOfKeys(std::uint64_t share_ppm);
inline constexpr std::string_view kSpreadText =
    "Timestamps are whole seconds and a rule looks back for less than 30 s, so the requests of "
    "each second are spread over it (--no-spread turns this off).";
// "60 per 1m", "100 per 1m, burst 150".
[[nodiscard]] std::string QuotaText(const core::Quota& quota);

// Plain text for a terminal. No line exceeds its width.

// Appends `text` in lines of at most `width` columns, broken at blanks, each ending in a line feed.
// Lines begin with `indent` blanks, and with `hanging` more after the first. Characters that are
// not displayable (base/display_text.h) are written out. Requires width > indent + hanging.
void AppendWrapped(std::string& out, std::string_view text, std::size_t width,
                   std::size_t indent = 0, std::size_t hanging = 0);

// A table. The first column is text, truncated to the width that the others leave. The others are
// right-aligned numbers, as wide as their content. If too little width is left for the text, it has
// its own line.
class TextTable {
 public:
  // A heading for each column.
  explicit TextTable(std::vector<std::string> headings);

  // One cell per heading. The first may be a text from a client. `note` is placed after the row, or
  // below it if it does not fit.
  void AddRow(std::vector<std::string> cells, std::string note = {});

  void AppendTo(std::string& out, std::size_t width) const;

 private:
  struct Row {
    std::vector<std::string> cells;
    std::string note;
  };
  [[nodiscard]] std::size_t WidthOf(std::size_t column) const;
  // If not even the numbers fit: each with its heading, as running text.
  void AppendAsLists(std::string& out, std::size_t width) const;

  std::vector<Row> rows_;  // The headings first.
};

}  // namespace sluice::replay
