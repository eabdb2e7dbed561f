#pragma once

#include "core/key.h"
#include "core/quota.h"
#include "store/key_store.h"
#include "store/table_core.h"

namespace sluice::store {

// When what was charged at `charged` stops counting anyway: giving it back comes too late then.
[[nodiscard]] TableInstant UsedUntil(const core::Quota& quota, TableInstant charged,
                                     const TableNow& now);

// Gives units back to a key, never above its whole quota. Not for concurrency. With `charged` they
// are of a charge of then: if the key was reset since, nothing is given back.
inline constexpr TableInstant kNoCharge = TableInstant::max();
void RefundKey(TableCore& core, const Turn& turn, const core::KeyView& key,
               const core::Quota& quota, Units units, TableInstant charged = kNoCharge);

// See SettleCall. Remembers that it was settled before it changes the key: a process killed in
// between loses the difference, and grants nothing twice.
void SettleCharge(TableCore& core, const Turn& turn, SettleCall& call);

}  // namespace sluice::store
