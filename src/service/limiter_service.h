#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "sluice/attribute.h"
#include "sluice/decision.h"

#include "base/clock.h"
#include "rules/mode_overrides.h"
#include "rules/rule_set.h"
#include "service/service_metrics.h"
#include "service/verdict.h"
#include "store/key_store.h"

namespace sluice::service {

// One request on its way: owned by its sender, who reuses it; alive and unmoved until
// OnVerdict(). Keeps its rule set alive while the store has it.
class DecideCall : private store::CheckCall {
 public:
  // In. The bytes that `attributes` views stay alive until OnVerdict().
  Attributes attributes;
  Cost cost;
  bool peek = false;
  using store::StoreCall::deadline;
  // Out.
  Verdict verdict;

  // Called once, on the thread that sent the call, during Decide() or later. The last thing
  // done with the call: the sender may reuse or destroy it here.
  virtual void OnVerdict() noexcept = 0;

 private:
  friend class LimiterService;
  void OnAnswered() noexcept final;
  // ... room reused from request to request
};

// Requests in, verdicts out. Thread-safe; decides nothing itself but which checks make a
// request and how their answers make a verdict.
class LimiterService {
 public:
  LimiterService(store::KeyStore& store, ServiceMetrics& metrics);

  // Puts a new rule set (modes) in force at once; requests under way keep the old one whole.
  void SetRules(std::shared_ptr<const rules::RuleSet> rules);
  void SetModes(rules::ModeOverrides modes);
  [[nodiscard]] std::shared_ptr<const rules::RuleSet> Rules() const;

  // The requests of one turn of a loop.
  void Decide(std::span<DecideCall* const> batch);

  // Operator verbs over the rules that apply to `attributes` (a replay, an admin door). Each
  // reports how many keys it touched; asynchronous like Decide.
  // Refund(attributes, units), Reset(attributes), Release(rule id, key, hold).
};

}  // namespace sluice::service
