#include "store/ban_list.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "core/key_codec.h"
#include "store/ban_slot.h"
#include "store/block.h"
#include "store/draft.h"
#include "store/key_guard.h"
#include "store/request.h"
#include "store/table_core.h"

namespace sluice::store {

namespace {

using core::Algorithm;
using core::Quota;

// The active ban under that fingerprint; nullopt if there is none.
std::optional<BanState> LastingBan(const TableCore& core, const Turn& turn,
                                   const Fingerprint& ban) {
  std::optional<BanState> found;
  UseSlot(core, turn, ban, [&](Slot& slot) {
    if (IsLasting(slot, turn)) {
      found = BanIn(slot);
      Warm(slot);  // A key that comes back must not be forgotten.
    }
  });
  return found;
}

TableInstant UntilOf(const TableCore& core, const Turn& turn, const Fingerprint& ban) {
  const auto lasting = LastingBan(core, turn, ban);
  return lasting ? TableInstant(Duration(lasting->until_ns)) : TableInstant{};
}

Quota DenialQuota(const core::Ban& ban) {
  return {.algorithm = Algorithm::kSlidingWindowLog, .limit = ban.after, .window = ban.within};
}

// A check of the log of denials, which takes the same steps as any check.
class DenialCall final : public CheckCall {
 public:
  DenialCall(const core::KeyView& key, const core::Ban& ban) {
    check_.key = {.rule = key.rule, .formerly = {}, .parts = key.parts};
    check_.quota = DenialQuota(ban);
    checks = {&check_, 1};
    answers = {&answer_, 1};
  }
  void OnAnswered() noexcept override {}
  // Whether the counted denial is the one that bans the key.
  [[nodiscard]] bool fills() const {
    return !answer_.decision.allowed || answer_.decision.remaining == 0;
  }
  // Without room nothing was counted.
  [[nodiscard]] bool counted() const {
    return answer_.decision.reason != Reason::kStoreFull && !answer_.decision.degraded;
  }

 private:
  Check check_;
  CheckAnswer answer_;
};

SlotArray::Newcomer NewcomerAs(TableCore& core, const Turn& turn, const core::KeyView& key,
                               const Fingerprint& fingerprint, std::uint8_t kind) {
  return {.key = fingerprint,
          .rule = core.rules.NumberOf(key.rule),
          .kind = kind,
          .now = turn.now.monotonic,
          .owner = turn.owner(),
          .may_evict = core.when_full == WhenFull::kEvict};
}

// Adds a ban for the key, or prolongs an existing one. False: no room.
bool PutBan(TableCore& core, const Turn& turn, const core::KeyView& key, BanState ban) {
  const Fingerprint fingerprint = core.hash.OfBan(key.rule, key).ban;
  for (int i = 0; i < kTries; ++i) {
    Slot* slot = core.slots.Insert(NewcomerAs(core, turn, key, fingerprint, kBanKind));
    if (slot == nullptr) {
      return false;
    }
    const bool ours = FingerprintOf(*slot) == fingerprint;
    if (ours) {
      if (IsLasting(*slot, turn)) {
        ban.until_ns = std::max(ban.until_ns, BanIn(*slot).until_ns);
        ban.since_ns = std::min(ban.since_ns, BanIn(*slot).since_ns);
      }
      WriteBan(core, turn, *slot, key, ban);
    }
    Unlock(*slot);
    if (ours) {
      return true;
    }
  }
  return false;
}

}  // namespace

TableInstant BannedUntil(TableCore& core, const Turn& turn, const core::KeyView& key) {
  TableInstant until = UntilOf(core, turn, core.hash.OfBan(key.rule, key).ban);
  for (const std::string& id : key.formerly) {  // Where there was no room to move it.
    until = std::max(until, UntilOf(core, turn, core.hash.OfBan(id, key).ban));
  }
  return until;
}

Decision BannedDecision(const Check& check, Duration left, const Decision& by_limit) {
  return {.allowed = false,
          .reason = Reason::kBanned,
          .shadow = check.shadow,
          .limit = check.quota.unlimited ? kUnlimited : check.quota.limit,
          .remaining = 0,
          .retry_after = core::WaitOfBanned(left, by_limit.retry_after),
          .reset_after = std::max(left, by_limit.reset_after)};
}

bool CountDenial(TableCore& core, const Turn& turn, const core::KeyView& key,
                 const core::Ban& ban) {
  const KeyHash::BanKeys keys = core.hash.OfBan(key.rule, key);
  DenialCall call(key, ban);
  Request(core, turn, call, {&keys.denials, 1}).Decide();
  if (!call.counted() || !call.fills()) {
    return false;
  }
  return ImposeBan(core, turn, key, turn.now.monotonic + ban.lasts);
}

bool ImposeBan(TableCore& core, const Turn& turn, const core::KeyView& key, TableInstant until) {
  const bool imposed = PutBan(core, turn, key,
                              {.until_ns = until.time_since_epoch().count(),
                               .since_ns = turn.now.monotonic.time_since_epoch().count()});
  if (imposed) {
    TableCounters::Add(core.counters.bans);
    // After the ban, denials are counted from zero.
    UseSlot(core, turn, core.hash.OfBan(key.rule, key).denials,
            [&core](Slot& slot) { core.slots.Clear(slot); });
  }
  return imposed;
}

void AdoptBan(TableCore& core, const Turn& turn, const core::KeyView& key, std::string_view former,
              const core::Ban& ban) {
  const KeyHash::BanKeys was = core.hash.OfBan(former, key);
  // A ban's text names its key, so the ban is written again, and the old one is removed afterwards.
  if (const auto lasting = LastingBan(core, turn, was.ban);
      lasting && PutBan(core, turn, key, *lasting)) {
    UseSlot(core, turn, was.ban, [&core](Slot& slot) { core.slots.Clear(slot); });
  }
  MoveState(core, turn, was.denials,
            NewcomerAs(core, turn, key, core.hash.OfBan(key.rule, key).denials,
                       KindOf(Algorithm::kSlidingWindowLog)),
            DenialQuota(ban));
}

bool LiftBan(TableCore& core, const Turn& turn, const core::KeyView& key) {
  bool lifted = false;
  const auto lift = [&](std::string_view rule) {
    const KeyHash::BanKeys keys = core.hash.OfBan(rule, key);
    lifted = LastingBan(core, turn, keys.ban).has_value() || lifted;
    for (const Fingerprint& each : {keys.ban, keys.denials}) {
      UseSlot(core, turn, each, [&core](Slot& slot) { core.slots.Clear(slot); });
    }
  };
  std::ranges::for_each(key.formerly, lift);
  lift(key.rule);
  return lifted;
}

std::vector<BannedKey> ListBans(TableCore& core, const Turn& turn) {
  std::vector<BannedKey> bans;
  BanText text;  // NOLINT: CopyText writes what is read of it.
  for (std::uint64_t i = 0; i < core.slots.size(); ++i) {
    Slot& slot = core.slots.at(i);
    if (slot.expiry.load(std::memory_order_relaxed) == 0) {
      continue;
    }
    Lock(slot, turn.owner());
    const bool is_ban = slot.kind == kBanKind && slot.expiry.load(std::memory_order_relaxed) != 0;
    const BanState state = is_ban ? BanIn(slot) : BanState{};
    const std::size_t size = is_ban ? CopyText(core, slot, text) : 0;
    const std::uint16_t rule = slot.rule;
    Unlock(slot);
    const TableInstant until{Duration(state.until_ns)};
    if (until <= turn.now.monotonic) {
      continue;
    }
    BannedKey ban;
    std::string_view written(text.data(), size);
    if (!core::ReadKey(core::KeyForm::kWhole, written, ban.key)) {
      ban.key.Assign({.rule = core.rules.IdOf(rule), .formerly = {}, .parts = {}});
    }
    ban.until = turn.now.wall_clock + (until - turn.now.monotonic);
    ban.since = turn.now.wall_clock - (turn.now.monotonic - TableInstant(Duration(state.since_ns)));
    bans.push_back(std::move(ban));
  }
  return bans;
}

}  // namespace sluice::store
