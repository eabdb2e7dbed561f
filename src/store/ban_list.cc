#include "store/ban_list.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <string>
#include <utility>

#include "store/check_steps.h"
#include "store/list_kind.h"
#include "store/packed_key.h"
#include "store/request.h"

namespace sluice::store {

namespace {

using core::Algorithm;
using core::Quota;

// What a ban's slot says: ListState's own words.
struct BanState {
  std::int64_t until_ns = 0;
  std::int64_t since_ns = 0;
  std::uint64_t text_bytes = 0;
};
static_assert(sizeof(BanState) == sizeof(ListState::core));

BanState BanIn(const Slot& slot) {
  return std::bit_cast<BanState>(std::bit_cast<ListState>(slot.state).core);
}

// Two of a key's fingerprints that no key has: from one that goes by rule and parts alone.
struct BanKeys {
  Fingerprint ban;
  Fingerprint denials;
};

BanKeys KeysOf(const TableCore& core, std::string_view rule, const core::KeyView& key) {
  constexpr std::uint64_t kBan = 0x6c62272e07bb0142ULL;
  constexpr std::uint64_t kDenials = 0x9ae16a3b2f90404fULL;
  const Fingerprint plain = core.hash.Of(rule, key, {.algorithm = Algorithm::kConcurrency});
  return {.ban = {.high = plain.high, .low = plain.low ^ kBan},
          .denials = {.high = plain.high, .low = plain.low ^ kDenials}};
}

// Runs `use` on the key's slot under its lock, if it has one.
template <class Use>
void UseSlot(const TableCore& core, const Turn& turn, const Fingerprint& key, Use use) {
  for (int i = 0; i < kTries; ++i) {
    Slot* slot = core.slots.Find(key);
    if (slot == nullptr) {
      return;
    }
    Lock(*slot, turn.owner());
    const bool ours = FingerprintOf(*slot) == key;
    if (ours) {
      use(*slot);
    }
    Unlock(*slot);
    if (ours) {
      return;
    }
  }
}

TableInstant UntilOf(const TableCore& core, const Turn& turn, const Fingerprint& ban) {
  TableInstant until{};
  UseSlot(core, turn, ban, [&](Slot& slot) {
    if (slot.kind == kBanKind && slot.expiry.load(std::memory_order_relaxed) != 0) {
      until = TableInstant(Duration(BanIn(slot).until_ns));
      Warm(slot);  // A key that comes again must not be forgotten.
    }
  });
  return until > turn.now.line ? until : TableInstant{};
}

// Its text in blocks that are nobody's yet; none if there is no room for all of it.
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
    const std::string_view part = text.substr(at, kTextBytesPerBlock);
    std::ranges::copy(part, block.text().begin());
    if (list.tail != 0) {
      core.blocks.at(list.tail).set_next(ref);
    } else {
      list.head = ref;
    }
    list.tail = ref;
  }
  return list;
}

std::string TextIn(const TableCore& core, const Slot& slot) {
  const std::uint64_t size = BanIn(slot).text_bytes;
  std::string text;
  for (BlockRef ref = std::bit_cast<ListState>(slot.state).head; ref != 0 && text.size() < size;
       ref = core.blocks.at(ref).next()) {
    const auto& bytes = core.blocks.at(ref).text();
    text.append(bytes.data(), std::min<std::uint64_t>(bytes.size(), size - text.size()));
  }
  return text;
}

// One question of the denials' log, on its way through the same steps as any.
class DenialCall final : public CheckCall {
 public:
  DenialCall(const core::KeyView& key, const core::Ban& ban) {
    check_.key = {.rule = key.rule, .formerly = {}, .parts = key.parts};
    check_.quota = {
        .algorithm = Algorithm::kSlidingWindowLog, .limit = ban.after, .window = ban.within};
    checks = {&check_, 1};
    answers = {&answer_, 1};
  }
  void OnAnswered() noexcept override {}
  // Whether the denial that was counted is the last one that the key takes.
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

// Writes a ban into a locked slot of its own.
void WriteBan(TableCore& core, const Turn& turn, Slot& slot, const core::KeyView& key,
              const BanState& ban) {
  std::array<char, kPackedBytes> text;  // NOLINT: PackKey writes what is read of it.
  const std::string_view packed(text.data(), PackKey(key, text));
  ListState list = TextBlocks(core, core.slots.IndexOf(slot), packed);
  BanState state = ban;
  state.text_bytes = list.head == 0 ? 0 : packed.size();
  list.core = std::bit_cast<decltype(list.core)>(state);
  Journal journal(core.base, core.journal[turn.thread]);
  journal.Save(&slot.rule, kSlotImageBytes);
  journal.Publish();
  slot.state = std::bit_cast<RawState>(list);
  slot.expiry.store(ExpirySecond(TableInstant(Duration(ban.until_ns)), turn.now.line),
                    std::memory_order_relaxed);
  journal.Retire();
}

}  // namespace

TableInstant BannedUntil(TableCore& core, const Turn& turn, const core::KeyView& key) {
  TableInstant until = UntilOf(core, turn, KeysOf(core, key.rule, key).ban);
  if (!key.formerly.empty()) {
    until = std::max(until, UntilOf(core, turn, KeysOf(core, key.formerly, key).ban));
  }
  return until;
}

Decision BannedDecision(const Check& check, TableInstant until, TableInstant now) {
  return {.allowed = false,
          .reason = Reason::kBanned,
          .shadow = check.shadow,
          .limit = check.quota.unlimited ? kUnlimited : check.quota.limit,
          .remaining = 0,
          .retry_after = until - now,
          .reset_after = until - now};
}

bool CountDenial(TableCore& core, const Turn& turn, const core::KeyView& key,
                 const core::Ban& ban) {
  const BanKeys keys = KeysOf(core, key.rule, key);
  DenialCall call(key, ban);
  Request(core, turn, call, {&keys.denials, 1}).Decide();
  if (!call.counted() || !call.fills()) {
    return false;
  }
  return ImposeBan(core, turn, key, turn.now.line + ban.lasts);
}

bool ImposeBan(TableCore& core, const Turn& turn, const core::KeyView& key, TableInstant until) {
  const BanKeys keys = KeysOf(core, key.rule, key);
  const SlotArray::Newcomer newcomer{.key = keys.ban,
                                     .rule = core.rules.NumberOf(key.rule),
                                     .kind = kBanKind,
                                     .now = turn.now.line,
                                     .owner = turn.owner(),
                                     .may_evict = core.when_full == WhenFull::kEvict};
  bool imposed = false;
  for (int i = 0; i < kTries && !imposed; ++i) {
    Slot* slot = core.slots.Insert(newcomer);
    if (slot == nullptr) {
      return false;
    }
    if (FingerprintOf(*slot) == keys.ban) {
      const bool lasts = slot->expiry.load(std::memory_order_relaxed) != 0 &&
                         BanIn(*slot).until_ns > turn.now.line.time_since_epoch().count();
      BanState ban{.until_ns = until.time_since_epoch().count(),
                   .since_ns = turn.now.line.time_since_epoch().count()};
      if (lasts) {
        ban.until_ns = std::max(ban.until_ns, BanIn(*slot).until_ns);
        ban.since_ns = BanIn(*slot).since_ns;
      }
      core.slots.Clear(*slot);
      WriteBan(core, turn, *slot, key, ban);
      imposed = true;
    }
    Unlock(*slot);
  }
  if (imposed) {
    TableCounters::Add(core.counters.bans);
    // When the ban is over, denials are counted from none.
    UseSlot(core, turn, keys.denials, [&core](Slot& slot) { core.slots.Clear(slot); });
  }
  return imposed;
}

bool LiftBan(TableCore& core, const Turn& turn, const core::KeyView& key) {
  bool lifted = false;
  for (const std::string_view rule : {key.rule, key.formerly}) {
    if (rule.empty()) {
      continue;
    }
    const BanKeys keys = KeysOf(core, rule, key);
    lifted = UntilOf(core, turn, keys.ban) != TableInstant{} || lifted;
    for (const Fingerprint& each : {keys.ban, keys.denials}) {
      UseSlot(core, turn, each, [&core](Slot& slot) { core.slots.Clear(slot); });
    }
  }
  return lifted;
}

std::vector<BannedKey> ListBans(TableCore& core, const Turn& turn) {
  std::vector<BannedKey> bans;
  for (std::uint64_t i = 0; i < core.slots.size(); ++i) {
    Slot& slot = core.slots.at(i);
    if (slot.expiry.load(std::memory_order_relaxed) == 0) {
      continue;
    }
    Lock(slot, turn.owner());
    const bool is_ban = slot.kind == kBanKind && slot.expiry.load(std::memory_order_relaxed) != 0;
    const BanState state = is_ban ? BanIn(slot) : BanState{};
    const std::string text = is_ban ? TextIn(core, slot) : "";
    const std::uint16_t rule = slot.rule;
    Unlock(slot);
    const TableInstant until{Duration(state.until_ns)};
    if (until <= turn.now.line) {
      continue;
    }
    BannedKey ban;
    if (auto key = UnpackKey(text)) {
      ban.key = *std::move(key);
    } else {
      ban.key.rule = core.rules.IdOf(rule);
    }
    ban.until = turn.now.wall + (until - turn.now.line);
    ban.since = turn.now.wall - (turn.now.line - TableInstant(Duration(state.since_ns)));
    bans.push_back(std::move(ban));
  }
  return bans;
}

}  // namespace sluice::store
