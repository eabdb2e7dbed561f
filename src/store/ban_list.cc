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
#include "store/block.h"
#include "store/draft.h"
#include "store/key_guard.h"
#include "store/request.h"
#include "store/table_core.h"

namespace sluice::store {

namespace {

using core::Algorithm;
using core::Quota;

// The state of a ban's slot, in the words of ListState.
struct BanState {
  std::int64_t until_ns = 0;
  std::int64_t since_ns = 0;
  std::uint64_t text_bytes = 0;
};
static_assert(sizeof(BanState) == sizeof(ListState::core));

BanState BanIn(const Slot& slot) {
  return std::bit_cast<BanState>(std::bit_cast<ListState>(slot.state).core);
}

// Of a locked slot.
bool IsLasting(const Slot& slot, const Turn& turn) {
  return slot.kind == kBanKind && slot.expiry.load(std::memory_order_relaxed) != 0 &&
         BanIn(slot).until_ns > turn.now.monotonic.time_since_epoch().count();
}

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

// The longest key text that a ban stores; of a longer one it stores only the rule.
constexpr std::size_t kTextBytes = 2048;
using TextRoom = std::array<char, kTextBytes>;

// Writes the text of the banned key and returns its size. Allocates nothing.
std::string_view TextOf(core::KeyView key, TextRoom& room) {
  if (core::KeyBytes(core::KeyForm::kWhole, key) > room.size()) {
    key.parts = {};
  }
  const std::size_t size = core::KeyBytes(core::KeyForm::kWhole, key);
  if (size > room.size()) {
    return {};
  }
  core::WriteKey(core::KeyForm::kWhole, key, room.data());
  return {room.data(), size};
}

// Writes the text into blocks that are not linked yet; none if there is no room for all of it.
ListState TextBlocks(TableCore& core, std::uint32_t owner, std::string_view text) {
  ListState list;
  for (std::size_t at = 0; at < text.size(); at += kTextBytesPerBlock) {
    const BlockRef ref = core.blocks.Take();
    if (ref == 0) {
      core.blocks.GiveChain(list.head, 0);
      return {};
    }
    Block& block = core.blocks.at(ref);
    block.Start(owner, BlockKind::kText);
    block.set_prev(list.tail);
    block.set_text(text.substr(at, kTextBytesPerBlock));
    if (list.tail != 0) {
      core.blocks.at(list.tail).set_next(ref);
    } else {
      list.head = ref;
    }
    list.tail = ref;
  }
  return list;
}

// Copies the text of a locked slot's ban and returns its size. Allocates nothing.
std::size_t CopyText(const TableCore& core, const Slot& slot, TextRoom& into) {
  const std::size_t size = std::min<std::uint64_t>(BanIn(slot).text_bytes, into.size());
  std::size_t copied = 0;
  for (BlockRef ref = std::bit_cast<ListState>(slot.state).head; ref != 0 && copied < size;
       ref = core.blocks.at(ref).next()) {
    const BlockText bytes = core.blocks.at(ref).text();
    const std::size_t part = std::min(bytes.size(), size - copied);
    std::copy_n(bytes.begin(), part, into.begin() + static_cast<std::ptrdiff_t>(copied));
    copied += part;
  }
  return copied;
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

// Writes a ban into its own locked slot, which may already contain one. The old ban stays until the
// new one is complete, in the journal too: a process that is killed in between lifts no ban.
void WriteBan(TableCore& core, const Turn& turn, Slot& slot, const core::KeyView& key,
              BanState ban) {
  ListState list = std::bit_cast<ListState>(slot.state);
  if (list.head != 0) {  // The text of the same key.
    ban.text_bytes = BanIn(slot).text_bytes;
  } else {
    TextRoom room;  // NOLINT: TextOf writes what is read of it.
    const std::string_view text = TextOf(key, room);
    list = TextBlocks(core, core.slots.IndexOf(slot), text);
    ban.text_bytes = list.head == 0 ? 0 : text.size();
  }
  list.core = std::bit_cast<decltype(list.core)>(ban);
  Journal journal(core.base, core.journal[turn.thread]);
  journal.Save(&slot.rule, kSlotImageBytes);
  journal.Publish();
  slot.state = std::bit_cast<RawState>(list);
  slot.expiry.store(ExpirySecond(TableInstant(Duration(ban.until_ns)), turn.now.monotonic),
                    std::memory_order_relaxed);
  journal.Retire();
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
  TextRoom text;  // NOLINT: CopyText writes what is read of it.
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
