#pragma once

#include <memory>
#include <mutex>
#include <span>

#include "insight/insight.h"
#include "rules/rule.h"
#include "rules/rule_set.h"
#include "service/active_rules.h"
#include "service/charge_call.h"
#include "service/operation.h"
#include "service/service_metrics.h"
#include "store/key_store.h"

namespace sluice::service {

// Operations in, outcomes out. Decides nothing itself but which checks make a request and how
// their answers make a verdict. Thread-safe. `store`, `metrics`, `fallback` and `insight`
// outlive it; it outlives every operation that is not complete.
class LimiterService {
 public:
  // `fallback`: for a store that can be unreachable; nullptr for one that cannot.
  // `insight`: what operators see of decisions; nullptr: nothing is recorded.
  LimiterService(store::KeyStore& store, ServiceMetrics& metrics, Fallback* fallback = nullptr,
                 insight::Insight* insight = nullptr);

  // Activates a new rule set (modes) for all requests from now on; requests under way keep the old
  // one whole. Until the first set no rule applies.
  void SetRules(std::shared_ptr<const rules::RuleSet> rules);
  void SetModes(rules::ModeOverrides modes);
  // nullptr until the first SetRules().
  [[nodiscard]] std::shared_ptr<const rules::RuleSet> Rules() const;
  [[nodiscard]] rules::ModeOverrides Modes() const;

  // The operations of one turn of a loop, in order. Consecutive checks go to the store together,
  // and each is judged by itself. If there is a fallback, its table judges those with their own
  // numbers.
  void Submit(std::span<Operation* const> batch);
  void Submit(Operation& operation) {
    Operation* const one = &operation;
    Submit({&one, 1});
  }

 private:
  void Start(Operation& operation);

  store::KeyStore& store_;
  ServiceMetrics& metrics_;
  Fallback* const fallback_;
  insight::Insight* const insight_;
  const DecisionPath path_;
  const DecisionPath throttle_path_;
  std::mutex publishing_;  // One change at a time: each builds on the snapshot before it.
  PublishedRules published_;
};

}  // namespace sluice::service
