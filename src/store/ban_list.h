#pragma once

#include <string_view>
#include <vector>

#include "sluice/decision.h"

#include "core/ban.h"
#include "store/key_store.h"
#include "store/table_core.h"

// Bans of keys in a table. A ban is a separate slot of the kind kBanKind, beside the slots of the
// key: its state has the end of the ban, and its chain of blocks the key's text for listing bans.
// Denials are counted by a sliding window log under a fingerprint of the key's own, so that `after`
// of them within `within` are counted exactly. Both go by rule and key parts alone: a change of the
// rule's algorithm lifts no ban.
//
// None of these takes a lock while it holds another's, so they run before and after a request has
// its slots, not in it.
namespace sluice::store {

// Until when `key` is banned; TableInstant{} if it is not. For a key without a ban it costs one
// hash and one lookup.
[[nodiscard]] TableInstant BannedUntil(TableCore& core, const Turn& turn, const core::KeyView& key);

// The answer to every check of a banned key. It waits for the end of the ban, in `left`, and for
// the limit, which would answer `by_limit` now.
[[nodiscard]] Decision BannedDecision(const Check& check, Duration left, const Decision& by_limit);

// Counts a denial of `key`. Returns true if it was the one that bans the key from now on.
bool CountDenial(TableCore& core, const Turn& turn, const core::KeyView& key, const core::Ban& ban);

// Bans `key` until `until`, or until the end of an existing ban if that is later. False: no room.
bool ImposeBan(TableCore& core, const Turn& turn, const core::KeyView& key, TableInstant until);
// Moves an active ban, and the denials that count towards one, from a former id of the key's rule.
void AdoptBan(TableCore& core, const Turn& turn, const core::KeyView& key, std::string_view former,
              const core::Ban& ban);
// Lifts its ban and forgets its denials. False if it was not banned.
bool LiftBan(TableCore& core, const Turn& turn, const core::KeyView& key);

// Every active ban. Takes as long as reading the whole table; other threads decide meanwhile.
[[nodiscard]] std::vector<BannedKey> ListBans(TableCore& core, const Turn& turn);

}  // namespace sluice::store
