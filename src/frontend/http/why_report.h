#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sluice/decision.h"
#include "sluice/time.h"

#include "core/key.h"
#include "lease/borrower.h"
#include "rules/rule.h"
#include "rules/rule_set.h"
#include "store/key_store.h"

// Why a request gets the verdict that it gets, and what every rule has to do with it: the answer to
// GET /v1/ratelimit/why.
//
//   {"scope": "node", "now_ms": …, "verdict": {"allowed": false, "status": 429, "rule_id": "api",
//   …},
//    "store": {"shared": true, "answered": true, "clock_offset_us": 310, …},
//    "rules": [{"rule_id": "api", "applies": true, "numbers_from": "plan", "place": "rules.yaml:3",
//      "state": {"allowed": false, "limit": 150, "used": 150, "passes_at_ms": …}, "ban": {…}}]}
//
// docs/http-api.md describes the members. Times are by the store's clock and rounded up.
namespace sluice::frontend::http {

// One rule's part.
struct WhyRule {
  rules::RuleSet::Explanation explained;
  rules::Mode mode = rules::Mode::kEnforce;  // The one in force.
  std::optional<Decision> decision{};        // nullopt: it did not judge the request.
  core::Key key{};                           // Of what it judged; without parts if it has no key.
  std::optional<Decision> remembered{};      // What decides while the store is away.
  std::optional<store::BannedKey> ban{};     // That lasts.
  std::optional<lease::BorrowedUnits> borrowed{};  // Of a rule with `sync: lease`.
};

// How far the store's wall clock is ahead of this node's. The true value differs from `ahead` by at
// most `error`, half of the time that the question took.
struct ClockOffset {
  Duration ahead{};
  Duration error{};
};
// Of a question that left at `sent` and whose answer came at `came`, by this node's clock, and in
// which the store's clock said `store`.
[[nodiscard]] inline ClockOffset OffsetOf(WallInstant sent, WallInstant came, WallInstant store) {
  const Duration half = (came - sent) / 2;
  return {.ahead = store - (sent + half), .error = half};
}

struct WhyReport {
  std::shared_ptr<const rules::RuleSet> set;  // What the rules' explanations point into.
  bool allowed = true;
  int status = 200;           // Of a check's answer.
  bool kill_switch = false;   // Every rule is off.
  std::string request_error;  // Not empty: nothing was decided, for the request itself is wrong.
  std::string governing;      // The id of the rule behind the verdict; "" if there is none.
  Duration wait{};            // Allowed, but only after this time.
  WallInstant now{};
  bool is_shared = false;            // The store is one that nodes share; else this node's table.
  bool asked = false;                // Some rule needed the store.
  bool answered = false;             // And it answered for all of them.
  std::optional<ClockOffset> clock;  // Of a shared store that answered.
  std::vector<WhyRule> rules;        // All in force, in declaration order.
};

// Appends it as JSON.
void AppendWhy(const WhyReport& report, std::string& body);

}  // namespace sluice::frontend::http
