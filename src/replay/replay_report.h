#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sluice/decision.h"
#include "sluice/time.h"

#include "core/quota.h"
#include "logs/log_stream.h"
#include "replay/comparison.h"
#include "replay/key_ledger.h"
#include "replay/timeline.h"
#include "rules/rule.h"
#include "store/table.h"
#include "wire/json_writer.h"

namespace sluice::replay {

// One key of a rule, in a list of top keys.
struct KeyLine {
  std::string key{};
  std::uint64_t requests = 0;
  std::uint64_t denied = 0;
  Units peak = 0;   // How much it requested, in the unit of RuleReport::measure,
  Units limit = 0;  // and the limit for it.
  WallInstant first_denied{};
  WallInstant last_denied{};
  KeyProfile denied_requests{};  // Empty unless requested.
};

// How many keys had their peak in a range of percent of their limit.
struct RateBin {
  int up_to_percent = 0;  // 0: more than all others.
  std::uint64_t keys = 0;
};

struct RuleReport {
  std::string id{};
  std::string key_pattern{};
  std::string algorithm{};
  std::string quota{};  // "60 per 1m"
  std::string
      limit_per_window{};  // "60 in any 1m": the limit at which all algorithms are compared.
  std::string measure{};  // The measure of peaks: "most in 1m", "most in a month", "highest level";
                          // "": none.
  rules::Mode mode = rules::Mode::kEnforce;

  std::uint64_t requests = 0;  // Requests that it judged.
  std::uint64_t denied = 0;
  std::uint64_t skipped = 0;  // It matched, but a key attribute was absent.
  std::uint64_t delayed = 0;  // Shaping: allowed after a wait,
  Duration longest_wait{};    // of at most this long.
  std::uint64_t keys = 0;
  std::uint64_t keys_denied = 0;
  Timeline timeline;

  bool has_peaks = false;
  std::vector<KeyLine> most_denied{};
  std::vector<KeyLine> busiest{};
  std::vector<RateBin> rates{};
  struct Quantile {
    std::uint64_t share_ppm = 0;  // At least this many of a million keys have no higher peak.
    Units peak = 0;
  };
  std::vector<Quantile> quantiles{};
  std::vector<ComparisonRow> comparison{};  // Empty unless requested and possible.
};

// The results of rules for the traffic of some logs.
struct ReplayReport {
  std::vector<logs::LogSummary> logs{};
  std::vector<logs::BadLine> bad_lines{};  // The first of them.
  std::uint64_t requests = 0;
  std::uint64_t denied = 0;     // Denied by an enforced rule.
  std::uint64_t unmatched = 0;  // No rule applied.
  WallInstant first{};
  WallInstant last{};
  WallInstant today = WallInstant::max();  // The time of the report; max(): unknown.
  bool spread = false;       // Requests with whole-second timestamps were spread over their second.
  std::string rule_files{};  // For the page: the sources of the rules,
  std::string version{};     // and the program's version. "" if unknown.
  std::vector<RuleReport> rules{};  // In declaration order, without rules that are off.
  std::vector<std::string> warnings{};
};

// The index of a percentile in `count` sorted values: that of the smallest value P such that at
// least `share_ppm` millionths of the values are at or below P. Requires count > 0 and share_ppm
// from 0 to 1,000,000.
[[nodiscard]] constexpr std::size_t PercentilePlace(std::uint64_t share_ppm, std::size_t count) {
  const std::uint64_t at_or_below = ((share_ppm * count) + 999'999) / 1'000'000;
  return at_or_below == 0 ? 0 : static_cast<std::size_t>(at_or_below - 1);
}

// The problems of the logs of `report`, one sentence each, with the remedy.
[[nodiscard]] std::vector<std::string> WarningsOfLogs(const ReplayReport& report);

// The reasons why `report` may be inexact, one sentence each, with the remedy. `stats` are those of
// the replay's table.
[[nodiscard]] std::vector<std::string> WarningsOf(const ReplayReport& report,
                                                  const store::TableStats& stats);

// The report for a terminal of `width` columns (at least 40): plain text, UTF-8, no longer lines.
[[nodiscard]] std::string ReportText(const ReplayReport& report, std::size_t width = 80);

// Only the logs: their requests, formats, times and problems.
[[nodiscard]] std::string LogsText(const ReplayReport& report, std::size_t width = 80);

// Writes the members `logs`, `bad_lines` and `warnings` into the current object.
void WriteLogs(wire::JsonWriter& json, const ReplayReport& report);

// The complete report as one JSON object: docs/replay.md describes each member.
[[nodiscard]] std::string ReportJson(const ReplayReport& report);

// The report as one self-contained page: charts are inline SVG, colours follow the reader's light
// or dark setting, and nothing is loaded or run.
[[nodiscard]] std::string ReportHtml(const ReplayReport& report);

}  // namespace sluice::replay
