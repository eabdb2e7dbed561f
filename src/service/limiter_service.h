#pragma once

#include <memory>
#include <mutex>
#include <span>

#include "rules/mode_overrides.h"
#include "rules/rule_set.h"
#include "service/active_rules.h"
#include "service/decide_call.h"
#include "service/fallback.h"
#include "service/operator_call.h"
#include "service/service_metrics.h"
#include "service/settle_call.h"
#include "service/throttle_call.h"
#include "service/verdict.h"
#include "store/key_store.h"

namespace sluice::service {

// Requests in, verdicts out. Decides nothing itself but which checks make a request and how
// their answers make a verdict. Thread-safe. `store`, `metrics` and `fallback` outlive it; it
// outlives every call that it has not answered.
class LimiterService {
 public:
  // `fallback`: for a store that can be away; nullptr for one that cannot.
  LimiterService(store::KeyStore& store, ServiceMetrics& metrics, Fallback* fallback = nullptr);

  // Puts a new rule set (modes) in force for every request that is handed in from now on;
  // requests under way keep the old one whole. Until the first set no rule applies.
  void SetRules(std::shared_ptr<const rules::RuleSet> rules);
  void SetModes(rules::ModeOverrides modes);
  // nullptr until the first SetRules().
  [[nodiscard]] std::shared_ptr<const rules::RuleSet> Rules() const;
  [[nodiscard]] rules::ModeOverrides Modes() const;

  // The requests of one turn of a loop: asked of the store together, each judged for itself.
  void Decide(std::span<DecideCall* const> batch);
  void Decide(DecideCall& call) {
    DecideCall* const one = &call;
    Decide({&one, 1});
  }

  // The same for checks that bring their numbers along. With a fallback its table judges them.
  void Throttle(std::span<ThrottleCall* const> batch);

  // Gives `call.units` back to every rule that applies, whatever the rule's own `cost` says:
  // an operator names the amount. Clamped, so a key never gets more than its whole quota.
  void Refund(OperatorCall& call);
  // Says what reservations cost in the end, and takes charges back whole: each once.
  void Settle(SettleCall& call) { SettleAll(call, false); }
  void Refund(SettleCall& call) { SettleAll(call, true); }
  // Makes the key of every rule that applies fresh: not banned either.
  void Reset(OperatorCall& call);
  void Release(HolderCall& call);
  // The hold expires the rule's hold_ttl from now. kNotFound also where the rule is gone.
  void Renew(HolderCall& call);
  // Lifts the ban of the key of every rule that applies; `touched` says how many were banned.
  void Unban(OperatorCall& call);
  // All bans that last.
  void ListBans(store::BansCall& call) { store_.ListBans(call); }

 private:
  template <class StoreVerb>
  void ForEachRule(OperatorCall& call, StoreVerb verb);
  // Finds whose the hold is. False: no rule in force could have granted it.
  bool Prepare(HolderCall& call);
  void SettleAll(SettleCall& call, bool refund);

  store::KeyStore& store_;
  ServiceMetrics& metrics_;
  Fallback* const fallback_;
  std::mutex publishing_;  // One change at a time: each builds on the snapshot before.
  PublishedRules published_;
};

}  // namespace sluice::service
