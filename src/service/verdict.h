#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "sluice/attribute.h"
#include "sluice/decision.h"
#include "sluice/reason.h"
#include "sluice/time.h"

#include "rules/rule_set.h"
#include "store/key_store.h"

namespace sluice::service {

// One rule's part in a verdict.
struct RuleDecision {
  const rules::Rule* rule = nullptr;
  core::Quota quota;  // The numbers it was judged by.
  Decision decision;
  bool charged = false;
  store::HoldId hold = 0;
};

// The answer to one request: all or nothing over its enforced rules.
//
// The numbers are those of one rule, the governing one: on a denial the denying rule with
// the longest wait (never, then unknown, then numbers), else the enforced rule with the
// least remaining; ties by declaration order.
struct Verdict {
  bool allowed = true;
  int governing = -1;                   // Index in `decisions`; -1 where no enforced rule applies.
  Duration wait{};                      // The longest wait of the enforced rules (shaping).
  WallInstant now{};                    // The store's wall clock: absolute times are made from it.
  std::vector<RuleDecision> decisions;  // In declaration order, shadow rules among them.
  std::string request_error;  // Not empty: the request itself was wrong, nothing was decided.

  [[nodiscard]] const RuleDecision* governing_decision() const {
    return governing < 0 ? nullptr : &decisions[static_cast<std::size_t>(governing)];
  }
};

}  // namespace sluice::service
