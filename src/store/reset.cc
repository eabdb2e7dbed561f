#include "store/reset.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "store/key_guard.h"
#include "store/mark.h"
#include "store/table_core.h"

namespace sluice::store {

namespace {

// As a rule in the directory of rules: what shows in lists of keys.
constexpr std::string_view kResets = "@reset";

// When the key with this mark was last reset; TableInstant::min() if it never was.
TableInstant ResetOf(const TableCore& core, const Turn& turn, const Fingerprint& mark) {
  const auto at = FindMark(core, turn, mark);
  return at ? TableInstant(Duration(static_cast<std::int64_t>(*at))) : TableInstant::min();
}

}  // namespace

bool ResetKey(TableCore& core, const Turn& turn, const ResetCall& call,
              const std::function<TableNow()>& read_time) {
  const Duration lasts = std::min(call.remembered_for(), core::kLongestHorizon);
  const auto leave_mark = [&] {
    if (lasts <= Duration{}) {
      return true;
    }
    const Turn now{.now = read_time(), .thread = turn.thread};
    const Mark mark{
        .fingerprint = core.hash.OfReset(call.key.rule, call.key, call.quota),
        .rule = kResets,
        .number = static_cast<std::uint64_t>(now.now.monotonic.time_since_epoch().count()),
        .until = now.now.monotonic + lasts};
    return WriteMark(core, now, mark, ExistingMark::kGrows).has_value();
  };
  if (!call.key.formerly.empty()) {
    // What lies under former ids goes first: no state from before the reset moves to the own id
    // behind it.
    if (!leave_mark()) {
      return false;
    }
    for (const std::string& id : call.key.formerly) {
      UseSlot(core, turn, core.hash.Of(id, call.key, call.quota),
              [&core](Slot& slot) { core.slots.Clear(slot); });
    }
  }
  const KeyGuard guard(core, turn, call.key, call.quota);
  // The time of the mark is read under the key's lock. A charge that had the lock earlier has read
  // its own time earlier, so no receipt from before the reset is later than the mark.
  if (!leave_mark()) {
    return false;
  }
  if (guard.slot() != nullptr) {
    core.slots.Clear(*guard.slot());
  }
  return true;
}

TableInstant LastReset(const TableCore& core, const Turn& turn, const core::KeyView& key,
                       const core::Quota& quota) {
  TableInstant last = ResetOf(core, turn, core.hash.OfReset(key.rule, key, quota));
  for (const std::string& id : key.formerly) {
    last = std::max(last, ResetOf(core, turn, core.hash.OfReset(id, key, quota)));
  }
  return last;
}

}  // namespace sluice::store
