#include "replay/replay_warnings.h"

#include "core/quota.h"
#include "replay/human_text.h"

namespace sluice::replay {

std::vector<std::string> WarningsOf(const ReplayReport& report, const store::TableStats& stats) {
  std::vector<std::string> warnings;
  for (const logs::LogSummary& log : report.logs) {
    if (log.cut_off) {
      warnings.push_back(log.cut_off->Text());
    }
    if (log.late != 0) {
      warnings.push_back(log.name + ": " + Grouped(log.late) + " requests came up to " +
                         SpanText(log.latest) +
                         " late and were counted later than they happened; raise --reorder, or "
                         "sort the log");
    }
  }
  for (const RuleReport& rule : report.rules) {
    if (rule.requests == 0 && rule.skipped != 0) {
      warnings.push_back("rule " + rule.id + ": no request has the attributes of its key (" +
                         rule.key_pattern + "); give them a column with --map NAME=COLUMN");
    } else if (rule.skipped > rule.requests) {
      warnings.push_back("rule " + rule.id + ": most requests lack the attributes of its key (" +
                         rule.key_pattern +
                         "); a log of host names has them as {client}, for {ip} is for addresses");
    } else if (rule.requests == 0) {
      warnings.push_back("rule " + rule.id + ": it applied to no request");
    }
    if (rule.algorithm == core::NameOf(core::Algorithm::kConcurrency)) {
      warnings.push_back("rule " + rule.id +
                         ": logs do not say when a request was over, so each is taken to hold its "
                         "place for the whole hold_ttl");
    }
  }
  if (const auto lost = stats.evictions + stats.block_evictions; lost != 0) {
    warnings.push_back("the table was too small: " + Grouped(lost) +
                       " keys were forgotten before their time, so the counts are not exact; "
                       "raise --keys");
  }
  return warnings;
}

}  // namespace sluice::replay
