#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>

#include "sluice/attribute.h"
#include "sluice/decision.h"
#include "sluice/time.h"

#include "base/request_id.h"
#include "base/trace_parent.h"
#include "core/key.h"
#include "core/quota.h"

namespace sluice::rules {
class RuleSet;
}  // namespace sluice::rules

namespace sluice::insight {

// What became of one rule's check. Each evaluation counts once; peeks do not count.
enum class Outcome : std::uint8_t {
  kAllowed,
  kDenied,
  kShadowAllowed,
  kShadowDenied,
  kSkipped,          // Its `match` held, but a key attribute was absent: not evaluated.
  kDegradedAllowed,  // The store did not answer; on_store_error: allow.
  kDegradedDenied,   // ... deny.
  kDegradedLocal,    // ... local.
};
inline constexpr std::size_t kOutcomes = 8;

// Of a check that a store decided.
[[nodiscard]] constexpr Outcome OutcomeOf(bool allowed, bool shadow) {
  if (shadow) {
    return allowed ? Outcome::kShadowAllowed : Outcome::kShadowDenied;
  }
  return allowed ? Outcome::kAllowed : Outcome::kDenied;
}
// "shadow_denied".
[[nodiscard]] std::string_view NameOf(Outcome outcome);

// One check of a request. Views what the request's owner has.
struct DecisionRecord {
  static constexpr std::size_t kNoNumber = std::numeric_limits<std::size_t>::max();

  // The rule's id, or an id that no rule can have: "@cl.throttle", "@envoy".
  std::string_view rule;
  std::size_t number = kNoNumber;  // Rule::number in the rules that judged it.
  // Whose; empty if a key attribute was missing. Of a secret attribute it has the hash.
  std::span<const core::KeyPart> parts;
  const core::Quota* quota = nullptr;  // The numbers it was judged by. Never nullptr.
  Cost cost{};
  const Decision* decision = nullptr;  // Never nullptr.
  Outcome outcome = Outcome::kAllowed;
  bool charged = false;
  bool lease = false;  // Decided with units that this node has borrowed.
};

// The checks of a request in the order of their rules, shadow rules among them. They are described
// only if the request is kept, so a request that is not kept costs almost nothing.
class DecisionList {
 public:
  DecisionList() = default;
  DecisionList(const DecisionList&) = delete;
  DecisionList& operator=(const DecisionList&) = delete;

  [[nodiscard]] virtual std::size_t size() const = 0;
  [[nodiscard]] virtual DecisionRecord At(std::size_t i) const = 0;  // `i` < size().

 protected:
  ~DecisionList() = default;
};

// By what a request was judged.
enum class JudgedBy : std::uint8_t {
  kRules,
  kThrottle,  // CL.THROTTLE, which has its own quota.
  kEnvoy,     // The limits of Envoy's domains.
};
// "rules".
[[nodiscard]] std::string_view NameOf(JudgedBy judged_by);

// What one decided request leaves for operators. Everything that it views is valid during Record()
// only.
struct RequestRecord {
  WallInstant now{};  // The store's. Unset where no store was asked.
  // Made when something needs it. nullptr: there is none.
  base::RequestId* request_id = nullptr;
  std::string_view listener{};  // That received it; empty if unknown.
  JudgedBy judged_by = JudgedBy::kRules;
  bool allowed = true;
  bool any_denied = false;                // By any rule, shadow rules among them.
  Cost cost{};                            // Of the request itself.
  Attributes attributes{};                // As they arrived. Secrets among them are in clear text.
  const rules::RuleSet* rules = nullptr;  // That judged it. nullptr: it was not judged by rules.
  const base::TraceParent* trace = nullptr;  // nullptr: it belongs to no sampled trace.
  int governing = -1;                        // Which of the decisions; -1: unknown.
  // When the store was asked; unset where it was not.
  std::chrono::steady_clock::time_point asked{};
  const DecisionList& decisions;
};

}  // namespace sluice::insight
