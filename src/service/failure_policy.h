#pragma once

#include "sluice/decision.h"

#include "core/quota.h"
#include "rules/rule.h"
#include "service/service_metrics.h"

namespace sluice::service {

// What is answered when a store did not answer. The only place that decides between failing
// open, failing closed and limiting on the spot; each branch has its own counter.
//
//   allow  allowed, degraded. The default: a limiter must not become the outage.
//   deny   denied, degraded, kStoreUnavailable: 503 and never 429, for the caller has used
//          up nothing; when the store comes back is unknown.
//   local  keeps limiting in a table of this process, by this node's share of the quota
//          (fallback.h). Where the table is the only store there is nothing to fall back on: it
//          answers like allow, and counts apart, so that the branch shows.
//
// Before any of these come the denials that the store gave and that still hold (fallback.h).
struct FailedCheck {
  Decision decision;
  Outcome outcome = Outcome::kDegradedAllowed;
};

// `quota`: what the check would have been judged by. An allowed decision shows its whole
// quota as remaining, for nobody knows, and does not govern a verdict that has numbers
// (verdict.h). Pure.
[[nodiscard]] FailedCheck DecideWithoutStore(rules::OnStoreError policy, const core::Quota& quota);

}  // namespace sluice::service
