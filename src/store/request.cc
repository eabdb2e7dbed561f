#include "store/request.h"

#include <algorithm>
#include <memory>

#include "base/assert.h"
#include "core/attempt_window.h"
#include "store/ban_list.h"
#include "store/draft.h"
#include "store/judge.h"

namespace sluice::store {

namespace {

Decision Unlimited() {
  return {.allowed = true, .limit = kUnlimited, .remaining = kUnlimited};
}

}  // namespace

void Request::Decide() {
  MakeDrafts();
  if (has_bans_) [[unlikely]] {
    FindBans();
  }
  bool ready = false;
  for (int i = 0; i < kTries && !ready; ++i) {
    ready = Locate() && LockAll();
  }
  if (!ready) {
    GiveUp();
  }
  for (Draft& draft : Drafts()) {
    draft.Load(core_, turn_, call_.peek);
  }
  Judge();
  Commit();
  UnlockAll();
  for (std::size_t i = 0; i < call_.checks.size(); ++i) {
    call_.answers[i].decision.shadow = call_.checks[i].shadow;
  }
  if (has_bans_ && !call_.peek) [[unlikely]] {
    CountDenials();
  }
}

void Request::FindBans() {
  for (std::size_t i = 0; i < call_.checks.size(); ++i) {
    const Check& check = call_.checks[i];
    banned_until_ns_[i] =
        check.ban == nullptr ? 0 : BannedUntil(core_, turn_, check.key).time_since_epoch().count();
  }
}

// A shadow check is no part of a request that others deny: what it would have said counts for
// nothing.
void Request::CountDenials() {
  const auto denies = [this](std::size_t i) { return !call_.answers[i].decision.allowed; };
  bool enforced_denial = false;
  for (std::size_t i = 0; i < call_.checks.size(); ++i) {
    enforced_denial = enforced_denial || (denies(i) && !call_.checks[i].shadow);
  }
  const bool all = call_.atomicity == Atomicity::kAll;
  for (std::size_t i = 0; i < call_.checks.size(); ++i) {
    const Check& check = call_.checks[i];
    Decision& decision = call_.answers[i].decision;
    if (check.ban == nullptr || !denies(i) || !core::CountsTowardsBan(decision.reason) ||
        (all && check.shadow && enforced_denial)) {
      continue;
    }
    if (CountDenial(core_, turn_, check.key, *check.ban)) {
      // This one is the last denial by the limit; who waits for it must wait for the ban too.
      decision.retry_after = core::WaitOfBanned(check.ban->lasts, decision.retry_after);
      decision.reset_after = std::max(decision.reset_after, check.ban->lasts);
    }
  }
}

void Request::MakeDrafts() {
  for (std::size_t i = 0; i < call_.checks.size(); ++i) {
    const Check& check = call_.checks[i];
    call_.answers[i] = {};
    std::uint32_t at = 0;
    while (at < draft_count_ && Drafts()[at].key != keys_[i]) {
      ++at;
    }
    if (at == draft_count_) {
      auto* const made = reinterpret_cast<Draft*>(draft_room_.data()) + draft_count_++;
      Draft& draft = *std::construct_at(made);
      draft.key = keys_[i];
      draft.check = &check;
    }
    draft_of_[i] = static_cast<std::uint8_t>(at);
    has_bans_ = has_bans_ || check.ban != nullptr;
    Drafts()[at].wants_slot |= !call_.peek && !check.quota.unlimited && WantsSlot(check);
  }
}

bool Request::Locate() {
  return std::ranges::all_of(Drafts(), [this](Draft& draft) { return Place(draft); });
}

// False if another thread took the slot at once: start again.
bool Request::Place(Draft& draft) {
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
    slot->expiry.store(ExpirySecond(turn_.now.line + kReservedFor, turn_.now.line),
                       std::memory_order_relaxed);
  }
  Unlock(*slot);
  draft.slot = ours ? slot : nullptr;
  return ours;
}

bool Request::LockAll() {
  locked_count_ = 0;
  for (const Draft& draft : Drafts()) {
    if (draft.slot != nullptr) {
      locked_[locked_count_++] = draft.slot;
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
  for (const Draft& draft : Drafts()) {
    if (!draft.full && !holds(draft.slot, draft.key)) {
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

// So crowded that its slots are gone again each time: there is no room for this request. Nor for
// one that wants no slot: its keys may be there, but what they have cannot be read.
void Request::GiveUp() {
  for (Draft& draft : Drafts()) {
    draft.full = true;
    draft.slot = nullptr;
  }
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
    if (IsBanned(i)) {
      AnswerBanned(i);
      continue;
    }
    if (DraftOf(i).full && !check.quota.unlimited) {
      AnswerFull(i);
      continue;
    }
    decision = PeekBase(i);
    if (!repeats || check.quota.unlimited || check.shadow) {
      continue;
    }
    Draft& draft = DraftOf(i);
    const Step step = draft.Judge(core_, turn_, check);
    decision.allowed = step.decision.allowed;
    decision.reason = step.decision.reason;
    decision.retry_after = step.decision.retry_after;
    decision.wait = step.decision.wait;
    if (decision.allowed) {
      draft.Suppose(step);
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
    if (IsBanned(i)) {
      AnswerBanned(i);
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
  if (IsBanned(i)) {
    AnswerBanned(i);
    return;
  }
  if (check.quota.unlimited) {
    answer.decision = Unlimited();
    return;
  }
  Draft& draft = DraftOf(i);
  if (draft.full) {
    AnswerFull(i);
    return;
  }
  const Step step = draft.Judge(core_, turn_, check);
  answer.decision = step.decision;
  const bool charged = step.decision.allowed || core::ChargesDenials(check.quota.algorithm);
  if (!charged || check.cost.units == 0) {
    return;
  }
  if (!draft.TakeIn(core_, turn_, check, step)) {
    AnswerFull(i);
    return;
  }
  Charged(core_, turn_, check, answer);
}

void Request::AnswerBanned(std::size_t i) {
  const Duration left = TableInstant(Duration(banned_until_ns_[i])) - turn_.now.line;
  call_.answers[i].decision = BannedDecision(call_.checks[i], left, PeekBase(i));
}

void Request::AnswerFull(std::size_t i) {
  call_.answers[i].decision = DecideFull(core_, turn_, call_.checks[i]);
}

Decision Request::PeekBase(std::size_t i) const {
  const Check& check = call_.checks[i];
  return check.quota.unlimited ? Unlimited() : DraftOf(i).Peek(core_, turn_, check);
}

void Request::TakeBack() {
  for (Draft& draft : Drafts()) {
    draft.TakeBack(core_);
  }
}

void Request::Commit() {
  if (std::ranges::none_of(Drafts(), &Draft::dirty)) {
    return;
  }
  Journal journal(core_.base, core_.journal[turn_.thread]);
  for (const Draft& draft : Drafts()) {
    if (draft.dirty) {
      draft.Save(core_, journal);
    }
  }
  journal.Publish();
  for (Draft& draft : Drafts()) {
    if (draft.dirty) {
      draft.Write(core_, turn_);
    }
  }
  for (std::size_t i = 0; i < call_.checks.size(); ++i) {
    const Check& check = call_.checks[i];
    if (core::HasHolds(check.quota.algorithm) && call_.answers[i].charged) {
      call_.answers[i].hold = DraftOf(i).AddHold(core_, turn_, check);
      call_.answers[i].receipt.store_id = core_.id;
    }
  }
  journal.Retire();
  for (Draft& draft : Drafts()) {
    draft.GiveBlocks(core_);
  }
}

}  // namespace sluice::store
