#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/result.h"

#include "logs/attribute_plan.h"
#include "logs/log_merge.h"
#include "replay/event.h"
#include "replay/key_ledger.h"
#include "replay/replay_report.h"
#include "replay/request_feed.h"
#include "replay/rule_count.h"
#include "rules/rule_set.h"
#include "service/limiter_service.h"
#include "service/service_metrics.h"
#include "store/table.h"

namespace sluice::replay {

struct LogReplayOptions {
  std::uint64_t keys = 1'000'000;  // The number of keys in the table.
  bool compare = false;            // Compare all algorithms.
  std::size_t top = 10;            // Keys in each list.
  bool spread = true;              // Spread whole-second timestamps where it matters.
  // Keep a profile of the denied requests of each key. The last three attributes of the plan must
  // be kProfileAttributes.
  bool profile = false;
  WallInstant today = WallInstant::max();  // For the report: later times cause a warning.
  std::string* decisions = nullptr;        // Gets a line per request (answer_line.h), if set; the
                                           // progress callback may take them away.
};

inline constexpr std::array<std::string_view, 3> kProfileAttributes{"status", "endpoint",
                                                                    "user_agent"};

// Runs the requests of logs through the daemon's engine, with the logs' own clock, and counts the
// results. One thread. Memory: the table, and the records of key_ledger.h for each key.
class LogReplay {
 public:
  // `plan` has the attributes that `rules` read, and outlives the replay.
  LogReplay(const LogReplayOptions& options, std::shared_ptr<const rules::RuleSet> rules,
            const logs::AttributePlan& plan);
  ~LogReplay();
  LogReplay(const LogReplay&) = delete;
  LogReplay& operator=(const LogReplay&) = delete;

  // Runs to the end of the logs, and calls `progress` every few thousand requests. Call it once.
  // Error: no memory for the table.
  [[nodiscard]] Result<void> Run(logs::LogMerge& logs, const std::function<void()>& progress);

  // The results. Call it after Run().
  [[nodiscard]] ReplayReport Report(const logs::LogMerge& logs) const;

 private:
  struct Asked;

  [[nodiscard]] Result<void> OpenTable(WallInstant first);
  // One that is free, with the request's attributes in it.
  [[nodiscard]] Asked& Prepare(const RequestFeed::Request& request);
  void Flush();
  void Count(const Asked& asked);
  void HashKeys(Asked& asked);
  void ForEachKey(std::span<const std::unique_ptr<Asked>> batch,
                  void (KeyLedger::*step)(std::uint64_t) const) const;

  LogReplayOptions options_;
  std::shared_ptr<const rules::RuleSet> rules_;
  const logs::AttributePlan& plan_;
  EventClock clock_;
  std::unique_ptr<store::Table> table_;
  service::ServiceMetrics metrics_{/*time_decisions=*/false};
  std::unique_ptr<service::LimiterService> service_;

  std::vector<std::unique_ptr<Asked>> asked_;
  std::vector<service::Operation*> batch_;  // Requests with the same time.
  std::vector<RuleCount> counts_;           // By Rule::number.
  std::uint64_t requests_ = 0;
  std::uint64_t denied_ = 0;
  std::uint64_t unmatched_ = 0;
  bool has_spread_ = false;
  WallInstant first_{};
  WallInstant last_{};
};

}  // namespace sluice::replay
