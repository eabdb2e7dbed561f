#include "store/request.h"

#include <algorithm>
#include <bit>
#include <memory>

#include "base/assert.h"
#include "store/hold_list.h"
#include "store/list_kind.h"

namespace sluice::store {

namespace {

// How often a request starts again because others took its slots before it had locked them.
constexpr int kTries = 64;

// A slot put in for a request that must first find its others is kept from being given away
// for this long, and by this much heat.
constexpr std::uint32_t kReservedSeconds = 2;
constexpr std::uint8_t kReservedHeat = 64;

// What can never be charged needs no slot: a key that is absent is judged as fresh.
bool WantsSlot(const Check& check) {
  return check.cost.units > 0 && check.cost.units <= check.quota.limit;
}

bool IsLive(const Slot& slot, std::uint32_t second) {
  return slot.expiry.load(std::memory_order_relaxed) > second && slot.state != RawState{};
}

RawState StateOf(const Slot& slot) {
  return slot.expiry.load(std::memory_order_relaxed) == 0 ? RawState{} : slot.state;
}

void Warm(Slot& slot) {
  const std::uint8_t heat = slot.heat.load(std::memory_order_relaxed);
  slot.heat.store(static_cast<std::uint8_t>(heat + (heat < 255 ? 1 : 0)),
                  std::memory_order_relaxed);
}

Decision Unlimited() {
  return {.allowed = true, .limit = kUnlimited, .remaining = kUnlimited};
}

// When there will be room is not known.
Decision StoreFull(const core::Quota& quota) {
  return {.allowed = false,
          .reason = Reason::kStoreFull,
          .limit = quota.limit,
          .remaining = 0,
          .retry_after = Decision::kUnknown};
}

// `second` after `first`, in the same request: both append at the same moment.
EntryChange Joined(EntryChange first, const EntryChange& second) {
  first.drop += second.drop;
  if (second.append.units > 0) {
    SLUICE_DCHECK(first.append.units == 0 || first.append.at == second.append.at);
    first.append = {.at = second.append.at, .units = first.append.units + second.append.units};
  }
  return first;
}

SlotArray::Newcomer NewcomerOf(TableCore& core, const Turn& turn, const Check& check,
                               const Fingerprint& key) {
  return {.key = key,
          .rule = core.rules.NumberOf(check.key.rule),
          .kind = KindOf(check.quota.algorithm),
          .now = turn.now.line,
          .owner = turn.owner(),
          .may_evict = core.when_full == WhenFull::kEvict};
}

EntryView NoEntries(const TableCore& core) {
  return {core.blocks, ListState{}, EntryChange{}};
}

// What a check gets for which there is no room, judged as on a fresh key.
Decision DecideFull(TableCore& core, const Turn& turn, const Check& check) {
  if (core.when_full != WhenFull::kAllow) {
    TableCounters::Add(core.counters.full_denials);
    return StoreFull(check.quota);
  }
  Decision decision =
      JudgeCheck(check.quota, RawState{}, NoEntries(core), turn.now, check.cost).decision;
  if (decision.allowed) {
    TableCounters::Add(core.counters.full_allows);
    decision.degraded = true;
  }
  return decision;
}

void Charged(const Turn& turn, const Check& check, CheckAnswer& answer) {
  answer.charged = true;
  if (check.want_receipt) {
    answer.receipt = {.charged_at_ns = turn.now.line.time_since_epoch().count(),
                      .nonce = NextNonce()};
  }
}

// Finds the key's slot, or makes it one if `check` may be charged, and locks it. nullptr:
// it has none; *full says whether it should have.
Slot* FindAndLock(TableCore& core, const Turn& turn, const Check& check, const Fingerprint& key,
                  bool wants_slot, bool* full) {
  for (int i = 0; i < kTries; ++i) {
    Slot* slot = core.slots.Find(key);
    if (slot != nullptr) {
      Lock(*slot, turn.owner());
    } else if (!wants_slot) {
      return nullptr;
    } else {
      slot = core.slots.Insert(NewcomerOf(core, turn, check, key));
      if (slot == nullptr) {
        break;
      }
    }
    if (FingerprintOf(*slot) == key) {
      return slot;
    }
    Unlock(*slot);
  }
  *full = wants_slot;
  return nullptr;
}

}  // namespace

bool IsPlain(const CheckCall& call) {
  return call.checks.size() == 1 && call.checks[0].key.formerly.empty() &&
         !call.checks[0].quota.unlimited && !HasList(KindOf(call.checks[0].quota.algorithm));
}

void DecideOne(TableCore& core, const Turn& turn, const CheckCall& call, const Fingerprint& key) {
  const Check& check = call.checks[0];
  CheckAnswer& answer = call.answers[0];
  answer = {};
  bool full = false;
  Slot* slot = FindAndLock(core, turn, check, key, !call.peek && WantsSlot(check), &full);
  if (full) {
    answer.decision = DecideFull(core, turn, check);
    answer.decision.shadow = check.shadow;
    return;
  }
  const RawState state = slot == nullptr ? RawState{} : StateOf(*slot);
  if (call.peek) {
    answer.decision = JudgePeek(check.quota, state, NoEntries(core), turn.now, check.cost);
  } else {
    if (slot != nullptr) {
      Warm(*slot);  // Also by a denial: a key that is out of quota must not be forgotten.
    }
    const Step step = JudgeCheck(check.quota, state, NoEntries(core), turn.now, check.cost);
    answer.decision = step.decision;
    if (step.decision.allowed && check.cost.units > 0) {
      SLUICE_DCHECK(slot != nullptr);
      const std::uint32_t expiry =
          ExpirySecond(ExpiryOf(check.quota, step.on_allow, NoEntries(core)), turn.now.line);
      Journal journal(core.base, core.journal[turn.thread]);
      journal.Save(&slot->rule, kSlotImageBytes);
      journal.Publish();
      slot->state = step.on_allow;
      slot->expiry.store(expiry, std::memory_order_relaxed);
      journal.Retire();
      Charged(turn, check, answer);
    }
  }
  if (slot != nullptr) {
    Unlock(*slot);
  }
  answer.decision.shadow = check.shadow;
}

void Request::Decide() {
  MakeDrafts();
  bool ready = false;
  for (int i = 0; i < kTries && !ready; ++i) {
    ready = Locate() && LockAll();
  }
  if (!ready) {
    GiveUp();
  }
  LoadBases();
  Judge();
  Commit();
  UnlockAll();
  for (std::size_t i = 0; i < call_.checks.size(); ++i) {
    call_.answers[i].decision.shadow = call_.checks[i].shadow;
  }
}

void Request::MakeDrafts() {
  for (std::size_t i = 0; i < call_.checks.size(); ++i) {
    const Check& check = call_.checks[i];
    call_.answers[i] = {};
    std::uint32_t at = 0;
    while (at < draft_count_ && drafts_[at].key != keys_[i]) {
      ++at;
    }
    if (at == draft_count_) {
      Draft& draft = *std::construct_at(&drafts_[draft_count_++]);
      draft.key = keys_[i];
      draft.check = &check;
      draft.has_former = !check.key.formerly.empty();
      if (draft.has_former) {
        draft.former_key = core_.hash.Of(check.key.formerly, check.key, check.quota);
      }
    }
    draft_of_[i] = static_cast<std::uint8_t>(at);
    drafts_[at].wants_slot |= !call_.peek && !check.quota.unlimited && WantsSlot(check);
  }
}

bool Request::Locate() {
  return std::ranges::all_of(std::span(drafts_).first(draft_count_),
                             [this](Draft& draft) { return Place(draft); });
}

// False if another thread took the slot at once: start again.
bool Request::Place(Draft& draft) {
  draft.former = draft.has_former ? core_.slots.Find(draft.former_key) : nullptr;
  draft.slot = core_.slots.Find(draft.key);
  draft.full = false;
  if (draft.slot != nullptr || !draft.wants_slot) {
    return true;
  }
  Slot* slot = core_.slots.Insert(NewcomerOf(core_, turn_, *draft.check, draft.key));
  draft.full = slot == nullptr;
  if (slot == nullptr) {
    return true;
  }
  const bool ours = FingerprintOf(*slot) == draft.key;
  if (ours && slot->expiry.load(std::memory_order_relaxed) == 0) {
    slot->state = {};
    slot->heat.store(kReservedHeat, std::memory_order_relaxed);
    slot->expiry.store(NowSecond(turn_.now.line) + kReservedSeconds, std::memory_order_relaxed);
  }
  Unlock(*slot);
  draft.slot = ours ? slot : nullptr;
  return ours;
}

bool Request::LockAll() {
  locked_count_ = 0;
  const std::span drafts = std::span(drafts_).first(draft_count_);
  for (const Draft& draft : drafts) {
    for (Slot* slot : {draft.slot, draft.former}) {
      if (slot != nullptr) {
        locked_[locked_count_++] = slot;
      }
    }
  }
  const auto end = locked_.begin() + locked_count_;
  std::sort(locked_.begin(), end);  // All take their locks in this order: no cycle of waiters.
  locked_count_ = static_cast<std::uint32_t>(std::unique(locked_.begin(), end) - locked_.begin());
  for (std::uint32_t i = 0; i < locked_count_; ++i) {
    Lock(*locked_[i], turn_.owner());
  }
  const auto holds = [this](Slot* slot, const Fingerprint& key) {
    return slot == nullptr ? core_.slots.Find(key) == nullptr : FingerprintOf(*slot) == key;
  };
  for (const Draft& draft : drafts) {
    if ((!draft.full && !holds(draft.slot, draft.key)) ||
        (draft.has_former && !holds(draft.former, draft.former_key))) {
      UnlockAll();
      return false;
    }
  }
  return true;
}

void Request::UnlockAll() {
  for (std::uint32_t i = 0; i < locked_count_; ++i) {
    Slot& slot = *locked_[i];
    if (slot.expiry.load(std::memory_order_relaxed) != 0 && slot.state == RawState{}) {
      slot.heat.store(0, std::memory_order_relaxed);
      slot.expiry.store(0, std::memory_order_relaxed);  // Reserved, and not used after all.
    }
    Unlock(slot);
  }
  locked_count_ = 0;
}

// So crowded that its slots are gone again each time: there is no room for this request.
void Request::GiveUp() {
  for (Draft& draft : std::span(drafts_).first(draft_count_)) {
    draft.full = draft.wants_slot;
    draft.slot = nullptr;
    draft.former = nullptr;
  }
}

void Request::LoadBases() {
  const std::uint32_t second = NowSecond(turn_.now.line);
  for (Draft& draft : std::span(drafts_).first(draft_count_)) {
    if (draft.check->quota.algorithm == core::Algorithm::kConcurrency) {
      for (Slot* slot : {draft.slot, draft.former}) {
        if (slot != nullptr && StateOf(*slot) != RawState{}) {
          HoldList(core_.blocks, core_.slots.IndexOf(*slot), slot->state)
              .DropExpired(turn_.now.line);
        }
      }
    }
    const bool has_own = draft.slot != nullptr && IsLive(*draft.slot, second);
    draft.moved = !has_own && draft.former != nullptr && IsLive(*draft.former, second);
    if (draft.moved) {
      if (draft.slot != nullptr) {
        core_.slots.Clear(*draft.slot);  // What it had is over; its blocks must not be lost.
      }
      draft.base = StateOf(*draft.former);
    } else if (draft.slot != nullptr) {
      draft.base = StateOf(*draft.slot);
    }
    if (has_own && !call_.peek) {
      Warm(*draft.slot);
    }
    draft.state = draft.base;
  }
}

EntryView Request::ViewOf(const Draft& draft, const RawState& state,
                          const EntryChange& change) const {
  const bool entries = BlocksOf(KindOf(draft.check->quota.algorithm)) == BlockKind::kEntries;
  return {core_.blocks, entries ? std::bit_cast<ListState>(state) : ListState{}, change};
}

void Request::Judge() {
  if (call_.peek) {
    JudgePeeked();
  } else if (call_.atomicity == Atomicity::kAll) {
    JudgeAll();
  } else {
    JudgeEach();
  }
}

// Verdict, reason and wait as a check would have them, numbers as they are.
void Request::JudgePeeked() {
  const bool repeats = draft_count_ < call_.checks.size();
  for (std::size_t i = 0; i < call_.checks.size(); ++i) {
    const Check& check = call_.checks[i];
    Decision& decision = call_.answers[i].decision;
    decision = PeekBase(i);
    if (!repeats || check.quota.unlimited || check.shadow) {
      continue;
    }
    Draft& draft = DraftOf(i);
    const Step step = JudgeCheck(check.quota, draft.state, ViewOf(draft, draft.state, draft.change),
                                 turn_.now, check.cost);
    decision.allowed = step.decision.allowed;
    decision.reason = step.decision.reason;
    decision.retry_after = step.decision.retry_after;
    decision.wait = step.decision.wait;
    if (decision.allowed) {
      draft.state = step.on_allow;
      draft.change = Joined(draft.change, step.change);
    }
  }
}

void Request::JudgeAll() {
  bool denied = false;
  for (std::size_t i = 0; i < call_.checks.size(); ++i) {
    if (!call_.checks[i].shadow) {
      JudgeInto(i);
      denied = denied || !call_.answers[i].decision.allowed;
    }
  }
  if (!denied) {
    for (std::size_t i = 0; i < call_.checks.size(); ++i) {
      if (call_.checks[i].shadow) {
        JudgeInto(i);
      }
    }
    return;
  }
  // Nothing is charged: all numbers are those of now.
  TakeBack();
  for (std::size_t i = 0; i < call_.checks.size(); ++i) {
    CheckAnswer& answer = call_.answers[i];
    if (answer.decision.reason == Reason::kStoreFull || answer.decision.degraded) {
      continue;
    }
    const Decision now = PeekBase(i);
    if (call_.checks[i].shadow || answer.decision.allowed) {
      answer = {};
      answer.decision = now;
    } else {
      answer.decision.remaining = now.remaining;
      answer.decision.reset_after = now.reset_after;
    }
  }
}

void Request::JudgeEach() {
  for (const bool shadow : {false, true}) {
    for (std::size_t i = 0; i < call_.checks.size(); ++i) {
      if (call_.checks[i].shadow == shadow) {
        JudgeInto(i);
      }
    }
  }
}

void Request::JudgeInto(std::size_t i) {
  const Check& check = call_.checks[i];
  CheckAnswer& answer = call_.answers[i];
  if (check.quota.unlimited) {
    answer.decision = Unlimited();
    return;
  }
  Draft& draft = DraftOf(i);
  if (draft.full) {
    AnswerFull(i);
    return;
  }
  const Step step = JudgeCheck(check.quota, draft.state, ViewOf(draft, draft.state, draft.change),
                               turn_.now, check.cost);
  answer.decision = step.decision;
  if (!step.decision.allowed || check.cost.units == 0) {
    return;
  }
  if (!TakeIn(draft, check, step)) {
    AnswerFull(i);
    return;
  }
  Charged(turn_, check, answer);
}

void Request::AnswerFull(std::size_t i) {
  call_.answers[i].decision = DecideFull(core_, turn_, call_.checks[i]);
}

bool Request::TakeIn(Draft& draft, const Check& check, const Step& step) {
  SLUICE_DCHECK(draft.slot != nullptr);
  const EntryChange change = Joined(draft.change, step.change);
  if (!ReserveBlocks(draft, check, change)) {
    return false;
  }
  draft.state = step.on_allow;
  draft.change = change;
  draft.check = &check;  // The latest quota says when the key is fresh.
  draft.dirty = true;
  return true;
}

bool Request::ReserveBlocks(Draft& draft, const Check& check, const EntryChange& change) {
  bool needed = false;
  switch (BlocksOf(KindOf(check.quota.algorithm))) {
    case BlockKind::kFree:
      break;
    case BlockKind::kEntries:
      needed = draft.spare == 0 &&
               NeedsBlock(core_.blocks, std::bit_cast<ListState>(draft.base), change);
      break;
    case BlockKind::kHolds: {
      const std::uint32_t room =
          HoldList(core_.blocks, core_.slots.IndexOf(*draft.slot), draft.base).Room();
      needed = draft.holds >= room && (draft.holds - room) % kHoldsPerBlock == 0;
      break;
    }
  }
  if (needed) {
    BlockRef block = core_.blocks.Take();
    for (int i = 0; block == 0 && i < kTries; ++i) {
      const bool may_evict = core_.when_full == WhenFull::kEvict;
      if (!core_.slots.FreeBlocks(turn_.now.line, turn_.owner(), may_evict) && i > 8) {
        break;
      }
      block = core_.blocks.Take();
    }
    if (block == 0) {
      return false;
    }
    core_.blocks.at(block).set_next(draft.spare);
    draft.spare = block;
  }
  draft.holds += BlocksOf(KindOf(check.quota.algorithm)) == BlockKind::kHolds ? 1 : 0;
  return true;
}

Decision Request::PeekBase(std::size_t i) const {
  const Check& check = call_.checks[i];
  const Draft& draft = DraftOf(i);
  return check.quota.unlimited ? Unlimited()
                               : JudgePeek(check.quota, draft.base, ViewOf(draft, draft.base, {}),
                                           turn_.now, check.cost);
}

void Request::TakeBack() {
  for (Draft& draft : std::span(drafts_).first(draft_count_)) {
    draft.state = draft.base;
    draft.change = {};
    draft.holds = 0;
    draft.dirty = false;
    core_.blocks.GiveChain(draft.spare, 0);
    draft.spare = 0;
  }
}

void Request::Commit() {
  const std::span drafts = std::span(drafts_).first(draft_count_);
  if (std::ranges::none_of(drafts, &Draft::dirty)) {
    return;
  }
  Journal journal(core_.base, core_.journal[turn_.thread]);
  for (const Draft& draft : drafts) {
    if (!draft.dirty) {
      continue;
    }
    journal.Save(&draft.slot->rule, kSlotImageBytes);
    if (draft.moved) {
      journal.Save(&draft.former->rule, kSlotImageBytes);
    }
    const std::uint8_t kind = KindOf(draft.check->quota.algorithm);
    if (BlocksOf(kind) == BlockKind::kEntries) {
      SaveBlocks(core_.blocks, std::bit_cast<ListState>(draft.base), draft.change, journal);
    } else if (BlocksOf(kind) == BlockKind::kHolds) {
      RawState base = draft.base;
      HoldList(core_.blocks, core_.slots.IndexOf(*draft.slot), base).SaveBlocks(journal);
    }
  }
  journal.Publish();
  for (Draft& draft : drafts) {
    if (draft.dirty) {
      WriteDraft(draft);
    }
  }
  AddHolds();
  journal.Retire();
  for (Draft& draft : drafts) {
    core_.blocks.GiveChain(draft.freed, draft.freed_end);
    core_.blocks.GiveChain(draft.spare, 0);
    draft.spare = 0;
  }
}

void Request::WriteDraft(Draft& draft) {
  Slot& slot = *draft.slot;
  if (draft.moved) {
    MoveFormer(draft);
  } else if (slot.heat.load(std::memory_order_relaxed) == kReservedHeat &&
             draft.base == RawState{}) {
    slot.heat.store(1, std::memory_order_relaxed);
  }
  const TableInstant expiry =
      ExpiryOf(draft.check->quota, draft.state, ViewOf(draft, draft.base, draft.change));
  const std::uint8_t kind = KindOf(draft.check->quota.algorithm);
  if (BlocksOf(kind) == BlockKind::kEntries) {
    ListState list = std::bit_cast<ListState>(draft.state);
    draft.freed = Apply(core_.blocks, list, core_.slots.IndexOf(slot), draft.change, draft.spare,
                        &draft.freed_end);
    draft.state = std::bit_cast<RawState>(list);
  }
  slot.state = draft.state;
  slot.expiry.store(ExpirySecond(expiry, turn_.now.line), std::memory_order_relaxed);
}

// The old id's state becomes the new one's: its blocks change their owner.
void Request::MoveFormer(Draft& draft) {
  const std::uint8_t kind = KindOf(draft.check->quota.algorithm);
  if (HasList(kind)) {
    const std::uint32_t owner = core_.slots.IndexOf(*draft.slot);
    for (BlockRef ref = std::bit_cast<ListState>(draft.base).head; ref != 0;) {
      core_.blocks.at(ref).set_owner(owner, BlocksOf(kind));
      ref = core_.blocks.at(ref).next();
    }
  }
  draft.former->expiry.store(0, std::memory_order_relaxed);
  draft.former->state = {};
}

void Request::AddHolds() {
  for (std::size_t i = 0; i < call_.checks.size(); ++i) {
    const Check& check = call_.checks[i];
    if (check.quota.algorithm != core::Algorithm::kConcurrency || !call_.answers[i].charged) {
      continue;
    }
    Draft& draft = DraftOf(i);
    HoldList holds(core_.blocks, core_.slots.IndexOf(*draft.slot), draft.slot->state);
    call_.answers[i].hold =
        holds.Add(check.cost.units, turn_.now.line + check.quota.window, NextNonce(), draft.spare);
  }
}

}  // namespace sluice::store
