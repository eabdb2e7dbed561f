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

// Until when `key` is banned; TableInstant{} if it is not. Without a ban of the key it costs
// one hash and one look.
[[nodiscard]] TableInstant BannedUntil(TableCore& core, const Turn& turn, const core::KeyView& key);

// What a banned key gets, whatever it asks: it waits for the end of the ban, of which `left` is
// left, and for the limit, which would say `by_limit` now.
[[nodiscard]] Decision BannedDecision(const Check& check, Duration left, const Decision& by_limit);

// Counts a denial of `key`; if it was the last one that it takes, the key is banned from now on.
// True if so.
bool CountDenial(TableCore& core, const Turn& turn, const core::KeyView& key, const core::Ban& ban);

// Bans `key` until `until`, or until a later end that a ban has already. False: no room.
bool ImposeBan(TableCore& core, const Turn& turn, const core::KeyView& key, TableInstant until);
// Moves what the key has under a former id of its rule: the ban that lasts, and the denials that
// count towards one.
void AdoptBan(TableCore& core, const Turn& turn, const core::KeyView& key, std::string_view former,
              const core::Ban& ban);
// Lifts its ban and forgets its denials. False if it was not banned.
bool LiftBan(TableCore& core, const Turn& turn, const core::KeyView& key);

// Every ban that lasts. Takes as long as reading the table; others decide meanwhile.
[[nodiscard]] std::vector<BannedKey> ListBans(TableCore& core, const Turn& turn);

}  // namespace sluice::store
