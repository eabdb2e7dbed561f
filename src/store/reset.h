#pragma once

#include <functional>

#include "core/key.h"
#include "core/quota.h"
#include "store/key_store.h"
#include "store/table_core.h"

// Resets, and what must be known of them afterwards. A reset forgives every charge from before, so
// the receipt of such a charge must give nothing back. A reset therefore leaves a mark (mark.h)
// that says when it was. The mark goes when no charge from before can count any more. A key that
// was never reset has none.
//
// Where the table is full and evicts, the mark may go before its time. Then a receipt from before
// the reset gives back what it says: no more than evicting the key itself would have.
namespace sluice::store {

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

}  // namespace sluice::store
