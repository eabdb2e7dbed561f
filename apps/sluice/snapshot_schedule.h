#pragma once

#include <atomic>
#include <string>

#include "sluice/time.h"

#include "lifecycle.h"
#include "repeating_thread.h"
#include "store/table.h"
#include "telemetry/registry.h"

namespace sluice::app {

// Writes a table's snapshot every interval, on a thread of its own, and once more at the end.
// What goes wrong is logged when it begins and when it ends, counted each time, and stops no
// decision.
class SnapshotSchedule final : public Component {
 public:
  // The table outlives it. `path` is the table's snapshot, whose folder is made if it is not
  // there; "" or an interval of 0 keeps nothing.
  SnapshotSchedule(store::Table& table, std::string path, Duration interval);
  ~SnapshotSchedule() override;

  void Start() override;
  // Ends the thread and writes the last one. Idempotent; nothing happens without Start().
  void Stop() override;

  // It outlives the registry's scrapes.
  void AddMetrics(telemetry::Registry& registry) const;

 private:
  void WriteOne();

  store::Table& table_;
  const std::string path_;
  const Duration interval_;

  RepeatingThread thread_;
  std::string complaint_;  // The trouble that was logged last; "" while all is well.

  std::atomic<std::uint64_t> written_{0};
  std::atomic<std::uint64_t> failed_{0};
  std::atomic<std::uint64_t> bytes_{0};
  std::atomic<std::int64_t> took_ns_{0};
  std::atomic<std::int64_t> newest_at_ns_{0};  // On the steady clock; 0: none was written.
};

}  // namespace sluice::app
