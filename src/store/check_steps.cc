#include "store/check_steps.h"

#include "store/block.h"
#include "store/judge.h"

namespace sluice::store {

namespace {

// When there will be room is not known.
Decision StoreFull(const core::Quota& quota) {
  return {.allowed = false,
          .reason = Reason::kStoreFull,
          .limit = quota.limit,
          .remaining = 0,
          .retry_after = Decision::kUnknown};
}

}  // namespace

SlotArray::Newcomer NewcomerOf(TableCore& core, const Turn& turn, const Check& check,
                               const Fingerprint& key) {
  return {.key = key,
          .rule = core.rules.NumberOf(check.key.rule),
          .kind = KindOf(check.quota.algorithm),
          .now = turn.now.line,
          .owner = turn.owner(),
          .may_evict = core.when_full == WhenFull::kEvict};
}

Decision DecideFull(TableCore& core, const Turn& turn, const Check& check) {
  if (core.when_full != WhenFull::kAllow) {
    TableCounters::Add(core.counters.full_denials);
    return StoreFull(check.quota);
  }
  const EntryView no_entries(core.blocks, ListState{}, EntryChange{});
  Decision decision = JudgeCheck(check.quota, RawState{}, no_entries, turn.now, check.cost,
                                 check.quota.limit - core::CeilingOf(check.quota))
                          .decision;
  if (decision.allowed) {
    TableCounters::Add(core.counters.full_allows);
    decision.degraded = true;
  }
  return decision;
}

}  // namespace sluice::store
