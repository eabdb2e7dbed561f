#pragma once

#include <functional>

#include "core/key.h"
#include "core/quota.h"
#include "store/key_store.h"
#include "store/table_core.h"

// Giving back: what a charge took, or all that a key has used.
namespace sluice::store {

// Resets, and what must be known of them afterwards. A reset forgives every charge from before, so
// the receipt of such a charge must give nothing back. A reset therefore leaves a mark (mark.h)
// that says when it was. The mark goes when no charge from before can count any more. A key that
// was never reset has none.
//
// Where the table is full and evicts, the mark may go before its time. Then a receipt from before
// the reset gives back what it says: no more than evicting the key itself would have.

// See ResetCall. False: there is no room for the mark, and nothing was done. The mark comes first:
// a process that is killed in between has reset nothing, and lost what receipts would have given
// back. `read_time` reads the table's clock: the mark's time is later than that of `turn`, for the
// reset may have waited for the key's lock while another thread charged the key. A charge that read
// its time before the reset and gets the lock after it is taken for one from before: its receipt
// gives nothing back.
[[nodiscard]] bool ResetKey(TableCore& core, const Turn& turn, const ResetCall& call,
                            const std::function<TableNow()>& read_time);

// When the key was last reset, under its id or a former one; TableInstant::min() if that was
// never, or no longer matters. May be called under the key's lock.
[[nodiscard]] TableInstant LastReset(const TableCore& core, const Turn& turn,
                                     const core::KeyView& key, const core::Quota& quota);

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
