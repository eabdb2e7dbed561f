#include "core/quota.h"
#include "replay/human_text.h"
#include "replay/replay_report.h"

namespace sluice::replay {

namespace {

// 1990-01-01, before the first web server.
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
                         ": check --format");
    }
    if (log.late != 0) {
      warnings.push_back(
          log.name + ": " + Grouped(log.late) + " of " + Grouped(log.requests) +
          " requests came up to " + SpanText(log.latest) +
          " late and were judged later than they happened: raise --reorder, or add --sort");
    }
    if (log.requests != 0 && !log.unit_is_said && log.first < kBeforeAllLogs) {
      warnings.push_back(log.name + ": its first request has the time " + InstantText(log.first) +
                         ", so the unit of its times is probably wrong. If they are milliseconds, "
                         "add --time COLUMN:ms (or s, us, ns)");
    }
  }
  if (report.requests != 0 && report.last - std::chrono::hours(48) > report.today) {
    warnings.push_back("the last request has the time " + InstantText(report.last) +
                       ", which is in the future, so the unit of the times is probably wrong. Set "
                       "it with --time COLUMN:UNIT");
  }
  return warnings;
}

std::vector<std::string> WarningsOf(const ReplayReport& report, const store::TableStats& stats) {
  std::vector<std::string> warnings = WarningsOfLogs(report);
  for (const RuleReport& rule : report.rules) {
    if (rule.requests == 0 && rule.skipped != 0) {
      warnings.push_back("rule " + rule.id + ": no request has the attributes of its key (" +
                         rule.key_pattern + "): name their columns with --map NAME=COLUMN");
    } else if (rule.skipped > rule.requests) {
      warnings.push_back(
          "rule " + rule.id + ": most requests lack the attributes of its key (" +
          rule.key_pattern +
          "): in a log of host names use {client}, because {ip} is only for addresses");
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
                       " keys were evicted, so the counts are not exact: raise --keys");
  }
  return warnings;
}

}  // namespace sluice::replay
