#include <algorithm>
#include <string_view>

#include "store/ban_list.h"
#include "store/hold_list.h"
#include "store/key_guard.h"
#include "store/refund.h"
#include "store/table.h"
#include "store/table_core.h"

// The verbs on one key: refund, settle, reset, release, renew, ban. And the list of bans.
namespace sluice::store {

void Table::Refund(RefundCall& call) {
  Turn turn;
  if (Begin(turn, call)) {
    if (core::HasHolds(call.quota.algorithm)) {
      call.error = StoreError::kUnsupported;  // Holds are released, not refunded.
    } else {
      RefundKey(core_, turn, call.key, call.quota, call.units);
    }
  }
  call.OnAnswered();
}

void Table::Settle(SettleCall& call) {
  Turn turn;
  if (Begin(turn, call)) {
    if (core::HasHolds(call.quota.algorithm)) {
      call.error = StoreError::kUnsupported;  // Holds are released, not settled.
    } else {
      SettleCharge(core_, turn, call);
    }
  }
  call.OnAnswered();
}

void Table::Reset(ResetCall& call) {
  Turn turn;
  if (Begin(turn, call)) {
    if (ResetKey(core_, turn, call, [this] { return monotonic_clock_.Now(clock_.Read()); })) {
      (void)LiftBan(core_, turn, call.key);
    } else {
      call.error = StoreError::kUnavailable;
    }
  }
  call.OnAnswered();
}

template <class Use>
void Table::UseHold(HoldCall& call, Use use) {
  Turn turn;
  if (Begin(turn, call)) {
    call.error = StoreError::kNotFound;
    const bool is_ours = call.store_id == 0 || call.store_id == core_.id;
    if (is_ours && core::HasHolds(call.quota.algorithm)) {
      AdoptFormer(core_, turn, call.key, call.quota, nullptr);
      // If the current id had holds already, others may be under a former id.
      const auto has_under = [&](std::string_view id) {
        bool has = false;
        UseSlot(core_, turn, core_.hash.Of(id, call.key, call.quota), [&](Slot& slot) {
          if (slot.expiry.load(std::memory_order_relaxed) == 0) {
            return;
          }
          HoldList holds(core_.blocks, core_.slots.IndexOf(slot), slot.state);
          holds.DropExpired(turn.now.monotonic);
          has = use(holds, turn, slot);
          if (slot.state == RawState{}) {
            slot.expiry.store(0, std::memory_order_relaxed);
          }
        });
        return has;
      };
      if (has_under(call.key.rule) || std::ranges::any_of(call.key.formerly, has_under)) {
        call.error = StoreError::kNone;
      }
    }
  }
  call.OnAnswered();
}

void Table::Release(HoldCall& call) {
  UseHold(call, [&call](HoldList& holds, const Turn&, Slot&) { return holds.Release(call.hold); });
}

void Table::Renew(HoldCall& call) {
  UseHold(call, [&call](HoldList& holds, const Turn& turn, Slot& slot) {
    const TableInstant expiry = turn.now.monotonic + call.quota.window;
    // First the slot: it is never given away while a hold of it counts.
    const std::uint32_t second = ExpirySecond(expiry, turn.now.monotonic);
    if (slot.expiry.load(std::memory_order_relaxed) < second) {
      slot.expiry.store(second, std::memory_order_relaxed);
    }
    return holds.Renew(call.hold, expiry);
  });
}

void Table::Ban(BanCall& call) {
  Turn turn;
  if (Begin(turn, call) && !ImposeBan(core_, turn, call.key, turn.now.monotonic + call.duration)) {
    call.error = StoreError::kUnavailable;
  }
  call.OnAnswered();
}

void Table::Unban(BanCall& call) {
  Turn turn;
  if (Begin(turn, call) && !LiftBan(core_, turn, call.key)) {
    call.error = StoreError::kNotFound;
  }
  call.OnAnswered();
}

void Table::ListBans(BansCall& call) {
  Turn turn;
  call.bans.clear();
  if (Begin(turn, call)) {
    call.bans = store::ListBans(core_, turn);
  }
  call.OnAnswered();
}

}  // namespace sluice::store
