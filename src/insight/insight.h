#pragma once

#include <cstdint>

#include "insight/request_record.h"
#include "telemetry/counter.h"

namespace sluice::insight {

// What operators see of decisions. A daemon has one, and everything that decides requests tells it
// of each: rules, CL.THROTTLE and Envoy's limits. Peeks are not recorded. libsluice has none.
//
// What decides links insight.cc, and libsluice with it: it must need no wire, no socket and no
// file. What writes JSON or files reads from here in objects of its own.
class Insight {
 public:
  // Once per decided request, by the thread that decided it, before its answer is written. Safe
  // from any thread. Allocates nothing, takes no lock, writes no log and makes no system call.
  void Record(const RequestRecord& request) noexcept { requests_.Add(request.allowed ? 0 : 1); }

  // How many requests were recorded.
  [[nodiscard]] std::uint64_t allowed() const noexcept { return requests_.Read(0); }
  [[nodiscard]] std::uint64_t denied() const noexcept { return requests_.Read(1); }

 private:
  telemetry::CounterGroup requests_;
};

}  // namespace sluice::insight
