#pragma once

#include "core/ban.h"
#include "core/key.h"
#include "core/quota.h"
#include "store/table_core.h"

// Rules that were renamed. A key lies under the id of its rule. What it has under a former id moves
// to the id in force whenever the key is touched, by whatever verb: a key that is denied, banned or
// only looked at until the next rename keeps its state too.
//
// Each move is journaled by itself, before the verb begins. None of these takes a lock while it
// waits for another one.
namespace sluice::store {

// Moves the key's state, its ban and the denials that count towards one (`ban` null: not those).
// Where the id in force has a state that counts, or there is no room for it, nothing moves.
void AdoptFormer(TableCore& core, const Turn& turn, const core::KeyView& key,
                 const core::Quota& quota, const core::Ban* ban);

// Moves a state that counts under `quota` from the key `from` to that of `to`, if that one has
// none.
void MoveState(TableCore& core, const Turn& turn, const Fingerprint& from,
               const SlotArray::Newcomer& to, const core::Quota& quota);

}  // namespace sluice::store
