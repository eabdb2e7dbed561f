#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "sluice/time.h"

#include "insight/request_record.h"
#include "rules/rule_set.h"
#include "telemetry/counter.h"
#include "telemetry/registry.h"

namespace sluice::service {

using insight::kOutcomes;
using insight::NameOf;
using insight::Outcome;
using insight::OutcomeOf;
// All outcomes of one rule share a cache line for each thread.
static_assert(kOutcomes == telemetry::CounterGroup::kWidth);

// What became of one request.
enum class RequestResult : std::uint8_t {
  kAllowed,
  kDenied,
  kNoRule,  // Allowed, because no rule applies.
  kPeeked,
  kError,  // The request itself was wrong.
};
inline constexpr std::size_t kRequestResults = 5;

// Under which id the keys of service/throttle_check.h live and count. No rule can have it: a
// rule's id has no such first character.
inline constexpr std::string_view kThrottleRule = "@cl.throttle";

// The counts of one rule. Any thread adds.
class RuleCounts {
 public:
  void Add(Outcome outcome) noexcept { outcomes_.Add(static_cast<std::size_t>(outcome)); }
  // In shadow mode it would have denied what every active rule allowed.
  void AddNewlyDenied() noexcept { newly_denied_.fetch_add(1, std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t Read(Outcome outcome) const noexcept {
    return outcomes_.Read(static_cast<std::size_t>(outcome));
  }
  [[nodiscard]] std::uint64_t newly_denied() const noexcept {
    return newly_denied_.load(std::memory_order_relaxed);
  }

 private:
  telemetry::CounterGroup outcomes_;
  std::atomic<std::uint64_t> newly_denied_{0};
};

// What the service counts:
//   sluice_decisions_total{rule,outcome}   sluice_requests_total{result}
//   sluice_decide_duration_seconds         sluice_rule_reloads_total{result}
//   sluice_missing_attributes_total{attribute}   sluice_rules
// Labels are bounded by the rules in force: a rule keeps its counters over reloads, and
// once it has left the rules they go when the next set comes, kRemembered of them apart.
// Counting is safe from any thread and allocates nothing.
class ServiceMetrics final : public telemetry::Source {
 public:
  using RuleCounters = std::shared_ptr<RuleCounts>;
  using AttributeCounter = std::shared_ptr<telemetry::Counter>;
  // How many rules that are gone still show their counts: enough for a rename or a rollback, and a
  // bound if new ids are created all day.
  static constexpr std::size_t kRemembered = 1'000;

  // `time_decisions`: whether to fill the duration histogram; it costs two clock readings a
  // batch.
  explicit ServiceMetrics(bool time_decisions = true) : times_decisions_(time_decisions) {}

  // The counters of `rules` by Rule::number: those that the ids had before, or new ones.
  [[nodiscard]] std::vector<RuleCounters> ForRules(const rules::RuleSet& rules);

  // How often a rule was skipped because a request lacks an attribute of its key, by the
  // attribute's place in AttributeNames(): those that such attributes had before, or new ones;
  // nullptr where no key of `rules` has it. What is in no key any more goes.
  [[nodiscard]] std::vector<AttributeCounter> ForMissing(const rules::RuleSet& rules);

  void CountRequest(RequestResult result) noexcept {
    requests_.Add(static_cast<std::size_t>(result));
  }
  // Of a check without a rule: shown under kThrottleRule.
  void CountThrottle(Outcome outcome) noexcept { throttle_.Add(outcome); }
  // Of a rule in shadow: requests that it would have denied and all other rules allowed.
  [[nodiscard]] std::uint64_t NewlyDenied(std::string_view rule) const;
  // When counting began.
  [[nodiscard]] std::chrono::system_clock::time_point since() const noexcept { return since_; }
  // From the submission of a request to its verdict; nullptr if that is not measured.
  [[nodiscard]] telemetry::Histogram* durations() noexcept {
    return times_decisions_ ? &duration_ : nullptr;
  }
  // Called with the result of each load of rules, including the first.
  void CountReload(bool ok) noexcept { reloads_.Add(ok ? 1 : 0); }

  // For tests and tools: 0 for a rule never seen.
  [[nodiscard]] std::uint64_t Count(std::string_view rule, Outcome outcome) const;
  [[nodiscard]] std::uint64_t Count(RequestResult result) const noexcept;

  void Write(telemetry::Exposition& out) const override;

 private:
  struct Known {
    RuleCounters counters;
    bool in_force = false;
  };

  const bool times_decisions_;
  const std::chrono::system_clock::time_point since_ = std::chrono::system_clock::now();
  telemetry::CounterGroup requests_;
  RuleCounts throttle_;
  telemetry::CounterGroup reloads_;  // [0] failed, [1] ok.
  telemetry::Histogram duration_;

  mutable std::mutex mutex_;  // Guards all members below.
  std::unordered_map<std::string, Known> known_;
  // Ids in the order of their first use, so that all scrapes have the same order.
  std::vector<std::string> order_;
  std::size_t in_force_ = 0;
  std::map<std::string, AttributeCounter, std::less<>> missing_;
};

}  // namespace sluice::service
