#pragma once

#include <memory>

#include "sluice/result.h"

#include "base/clock.h"
#include "daemon_config.h"
#include "insight/record_queue.h"
#include "lifecycle.h"
#include "records/decision_history.h"
#include "records/decision_log.h"
#include "records/record_collector.h"
#include "repeating_thread.h"
#include "telemetry/registry.h"

namespace sluice::app {

// The last decisions of a daemon, and its decision log, with the thread that collects them. What
// goes wrong with the log is said when it begins and when it ends, and delays no decision.
class DecisionRecords final : public Component {
 public:
  // Opens the log, if there is to be one, and begins to keep records: before anything decides. All
  // outlive it. Error: the log cannot be opened.
  [[nodiscard]] static Result<std::unique_ptr<DecisionRecords>> Open(const DaemonConfig& config,
                                                                     insight::RecordQueue& queue,
                                                                     const base::Clock& clock);
  ~DecisionRecords() override;

  void Start() override;
  // Ends the thread and writes what is left. Idempotent.
  void Stop() override;

  // The log is opened again, for it may have been moved away.
  void Reopen();

  [[nodiscard]] records::RecordCollector& collector() { return collector_; }

  // It outlives the registry's scrapes.
  void AddMetrics(telemetry::Registry& registry) const;

 private:
  DecisionRecords(const DaemonConfig& config, std::unique_ptr<records::DecisionLog> log,
                  insight::RecordQueue& queue, const base::Clock& clock);

  const std::unique_ptr<records::DecisionLog> log_;  // nullptr: there is none.
  insight::RecordQueue& queue_;
  records::DecisionHistory history_;
  records::RecordCollector collector_;

  RepeatingThread thread_;
};

}  // namespace sluice::app
