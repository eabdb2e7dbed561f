#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "sluice/decision.h"
#include "sluice/time.h"

#include "insight/request_record.h"
#include "rules/rule_set.h"
#include "store/key_store.h"

namespace sluice::service {

// One rule's part in a verdict. Pointers and views are valid until the completion returns.
struct RuleDecision {
  const rules::Rule* rule = nullptr;
  core::Quota quota{};                     // The numbers it was judged by.
  Cost cost{};                             // The units that it asked for.
  std::span<const core::KeyPart> parts{};  // The key; empty if a key attribute was missing.
  Decision decision{};
  insight::Outcome outcome = insight::Outcome::kAllowed;
  bool charged = false;
  store::HoldId hold = 0;
  store::Receipt receipt{};  // If receipts were asked for, and it was charged. Of a hold: whose.
};

// The answer to one request: all or nothing over its enforced rules. A rule that would have
// allowed in a denied verdict shows allowed and uncharged.
//
// The numbers are those of one rule, the governing one: see Governing().
struct Verdict {
  bool allowed = true;
  bool kill_switch = false;             // Every rule is off, nothing was judged.
  int governing = -1;                   // Index in `decisions`; -1 where no enforced rule applies.
  Duration wait{};                      // The longest wait of the enforced rules (shaping); 0 on
                                        // a denial, which queues nothing.
  WallInstant now{};                    // The store's wall clock: absolute times are made from
                                        // it. Unset where no store was asked.
  std::vector<RuleDecision> decisions;  // In declaration order, shadow rules among them.
  std::string request_error;  // Not empty: the request itself was wrong, nothing was decided.

  [[nodiscard]] const RuleDecision* governing_decision() const {
    return governing < 0 ? nullptr : &decisions[static_cast<std::size_t>(governing)];
  }
};

// The index of the decision whose numbers are the verdict's. On a denial: the denying enforced rule
// with the longest wait (never, then unknown, then numbers). Else: the enforced rule with the least
// remaining among those that have a number, which are neither unlimited nor decided without the
// store; without one, the first enforced rule. Ties go to the first declared. Never a shadow rule;
// -1 without an enforced rule. Requires `allowed` from EnforcedAllow().
[[nodiscard]] int Governing(std::span<const RuleDecision> decisions, bool allowed);

// Whether `candidate`, declared after `best`, governs a request that both judge: a denial outranks
// what is allowed; among equals as Governing() decides.
[[nodiscard]] bool Outranks(const Decision& candidate, const Decision& best);

// Whether no enforced rule denies.
[[nodiscard]] bool EnforcedAllow(std::span<const RuleDecision> decisions);

// Whether a rule that applied grants holds.
[[nodiscard]] bool MayHold(const Verdict& verdict);

// The longest wait of the enforced rules.
[[nodiscard]] Duration LongestWait(std::span<const RuleDecision> decisions);

}  // namespace sluice::service
