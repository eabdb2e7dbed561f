#pragma once

#include "sluice/decision.h"
#include "sluice/time.h"

#include "core/quota.h"
#include "store/entry_list.h"
#include "store/slot.h"

// Connects a slot's bytes with the algorithm that they belong to. Pure.
namespace sluice::store {

struct Step {
  Decision decision;
  RawState on_allow;
  EntryChange change;
};

// `state` is that of the quota's algorithm; `entries` those of its chain, empty where the
// algorithm has none. `kept`, of concurrency alone: what HoldList::KeptFree says of the key.
[[nodiscard]] Step JudgeCheck(const core::Quota& quota, const RawState& state,
                              const EntryView& entries, const TableNow& now, Cost cost, Units kept);
[[nodiscard]] Decision JudgePeek(const core::Quota& quota, const RawState& state,
                                 const EntryView& entries, const TableNow& now, Cost cost,
                                 Units kept);

struct RefundStep {
  RawState state;
  std::uint32_t drop = 0;
  Units take = 0;
};
// Holds are released, not refunded: their state comes back unchanged.
[[nodiscard]] RefundStep JudgeRefund(const core::Quota& quota, const RawState& state,
                                     const EntryView& entries, const TableNow& now, Units units);

// The instant at which `state` becomes a fresh key's.
[[nodiscard]] TableInstant ExpiryOf(const core::Quota& quota, const RawState& state,
                                    const EntryView& entries);

// Whether `state` still counts at `now`, to the nanosecond: a slot's own expiry is rounded up.
[[nodiscard]] bool Counts(const core::Quota& quota, const RawState& state, const BlockPool& blocks,
                          TableInstant now);

}  // namespace sluice::store
