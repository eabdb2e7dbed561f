#pragma once

#include "core/key.h"
#include "core/quota.h"
#include "store/key_store.h"
#include "store/table_core.h"

// Resets, and what must be known of them afterwards: a charge from before is forgiven, so its
// receipt must not give it back once more. A reset leaves a mark, a slot beside the key's own, that
// says when it was and goes when no charge from before can count any more. Keys that were never
// reset have none.
//
// Where the table is full and evicts, a mark may go before its time, as keys may. Then a receipt
// from before the reset gives back what it says: no more than evicting the key itself would have.
namespace sluice::store {

// See ResetCall. False: there is no room for the mark, and nothing was done. The mark comes first:
// a process killed in between has reset nothing, and lost what receipts would have given back.
[[nodiscard]] bool ResetKey(TableCore& core, const Turn& turn, const ResetCall& call);

// When the key was last reset, under its id or a former one; TableInstant::min() if that was
// never, or no longer matters. May be called under the key's lock.
[[nodiscard]] TableInstant LastReset(const TableCore& core, const Turn& turn,
                                     const core::KeyView& key, const core::Quota& quota);

}  // namespace sluice::store
