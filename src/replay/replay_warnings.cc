#include "replay/replay_warnings.h"

#include "core/quota.h"
#include "replay/human_text.h"

namespace sluice::replay {

namespace {

// 1990-01-01, before there was a web server that could log.
constexpr WallInstant kBeforeAllLogs{std::chrono::seconds(631'152'000)};

}  // namespace

std::vector<std::string> WarningsOfLogs(const ReplayReport& report) {
  std::vector<std::string> warnings;
  for (const logs::LogSummary& log : report.logs) {
    if (log.cut_off) {
      warnings.push_back(log.cut_off->Text());
    }
    if (log.requests == 0 && log.bad != 0) {
      warnings.push_back(log.name + ": no line could be read as " + log.format +
                         "; is --format right?");
    }
    if (log.late != 0) {
      warnings.push_back(log.name + ": " + Grouped(log.late) + " of " + Grouped(log.requests) +
                         " requests came up to " + SpanText(log.latest) +
                         " late and were judged later than they happened; raise --reorder, or add "
                         "--sort");
    }
    if (log.requests != 0 && !log.unit_is_said && log.first < kBeforeAllLogs) {
      warnings.push_back(log.name + ": its first request is of " + InstantText(log.first) +
                         ". Times are counted from 1970: is their unit right? If they count "
                         "milliseconds, say --time COLUMN:ms (or s, us, ns)");
    }
  }
  if (report.requests != 0 && report.last - std::chrono::hours(48) > report.today) {
    warnings.push_back("the last request is of " + InstantText(report.last) +
                       ", which is in the future: is the unit of the times right? Say it with "
                       "--time COLUMN:UNIT");
  }
  return warnings;
}

std::vector<std::string> WarningsOf(const ReplayReport& report, const store::TableStats& stats) {
  std::vector<std::string> warnings = WarningsOfLogs(report);
  for (const RuleReport& rule : report.rules) {
    if (rule.requests == 0 && rule.skipped != 0) {
      warnings.push_back("rule " + rule.id + ": no request has the attributes of its key (" +
                         rule.key_pattern + "); give them a column with --map NAME=COLUMN");
    } else if (rule.skipped > rule.requests) {
      warnings.push_back(
          "rule " + rule.id + ": most requests lack the attributes of its key (" +
          rule.key_pattern +
          "); in a log of host names use {client}, because {ip} is only for addresses");
    } else if (rule.requests == 0) {
      warnings.push_back("rule " + rule.id + ": it applied to no request");
    }
    const auto algorithm = core::AlgorithmNamed(rule.algorithm);
    if (algorithm && core::HasHolds(*algorithm)) {
      warnings.push_back("rule " + rule.id +
                         ": logs do not say when a request ended, so each is assumed to hold its "
                         "slot for the whole hold_ttl");
    }
  }
  if (const auto lost = stats.evictions + stats.block_evictions; lost != 0) {
    warnings.push_back("the table was too small: " + Grouped(lost) +
                       " keys were evicted, so the counts are not exact; "
                       "raise --keys");
  }
  return warnings;
}

}  // namespace sluice::replay
