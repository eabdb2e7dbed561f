#pragma once

#include <vector>

#include "sluice/decision.h"
#include "sluice/time.h"

#include "core/algorithm_state.h"
#include "core/concurrency.h"
#include "core/quota.h"

namespace sluice::core {

// One key of the lab, which shows what an algorithm of rules does with a stream of arrivals: judged
// by core/, as in the daemon, in the time that the arrivals state. It is also compiled to
// WebAssembly: tools/lab.sh. One thread.
class LabKey {
 public:
  // Requires that FaultOf(quota) is silent, no calendar and no reserves.
  explicit LabKey(const Quota& quota) : quota_(quota) {}

  // One arrival. `at` never decreases. `held`: how long a request that may go on takes, after which
  // its hold is released; only concurrency asks.
  [[nodiscard]] Decision Check(WallInstant at, Cost cost, Duration held);
  // The verdict of such an arrival, and what is left at `at`. Charges nothing.
  [[nodiscard]] Decision Peek(WallInstant at, Cost cost);

 private:
  struct Hold {
    TableInstant released;  // Or expired.
    TableInstant expiry;
    Units units = 0;
  };

  void DropReleased(TableInstant now);

  Quota quota_;
  AlgorithmState state_;
  Concurrency::State in_flight_;
  std::vector<Hold> holds_;
};

}  // namespace sluice::core
