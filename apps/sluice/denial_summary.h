#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "sluice/time.h"

#include "lifecycle.h"
#include "net/timer_wheel.h"

namespace sluice::net {
class EventLoop;
}  // namespace sluice::net

namespace sluice::app {

// Says in the log how much each rule denied: one line for each rule and interval with a denial,
// however many there were. One thread: the control loop's.
class DenialSummary final : public Component {
 public:
  // What a rule has decided since the daemon started.
  struct Counts {
    std::uint64_t allowed = 0;
    std::uint64_t denied = 0;
  };
  // Calls `take` for each rule.
  using TakeCounts = std::function<void(std::string_view rule, const Counts& counts)>;
  using ReadCounts = std::function<void(const TakeCounts& take)>;
  // The key that a rule denied most in the last minute, and its share of the rule's denials.
  struct TopKey {
    std::string key;
    double share = 0;
  };
  using ReadTopKey = std::function<std::optional<TopKey>(std::string_view rule)>;

  // An interval of 0: no lines. `loop` outlives it.
  DenialSummary(net::EventLoop& loop, Duration interval, ReadCounts read_counts,
                ReadTopKey read_top_key);

  void Start() override;
  void Stop() override;

  // Writes the lines of an interval that is over now.
  void Write();

 private:
  void Arm();
  void WriteOne(std::string_view rule, const Counts& since);

  net::EventLoop& loop_;
  const Duration interval_;
  const ReadCounts read_counts_;
  const ReadTopKey read_top_key_;
  net::Timer timer_;
  std::unordered_map<std::string, Counts> last_;
};

}  // namespace sluice::app
