#include "store/request.h"

#include <algorithm>
#include <memory>

#include "base/assert.h"
#include "store/ban_list.h"
#include "store/draft.h"

// One request, several keys, many threads
// =======================================
//
// The problem. A request names up to 64 keys, and three things must hold for it. It is charged
// whole or not at all. The verdicts of all threads are those of some order, one request after the
// other. And no lock is taken but those of the slots, each held for tens of nanoseconds. What
// makes this hard is that a slot belongs to no key for ever: between the moment when a thread
// finds a key and the moment when it locks the slot, another thread may forget that key and give
// the slot to a different one.
//
// The protocol is optimistic. Find or make the slots without a lock, lock them, then look whether
// they are still what they were. If not, unlock them all and start again. Everything is judged on
// copies (draft.h); only a request that passes writes, and it writes all at once.
//
// The interleavings that matter, and why each is safe:
//
// 1. Two requests have two keys in common and name them in opposite order. Both lock by address
//    (LockAll sorts), so neither holds what the other one has and waits for what it has not: there
//    is no cycle of waiters. Place() may wait for one lock too, inside SlotArray::Insert. It holds
//    no other one then, and gives that one back at once.
//
// 2. A slot that was found is given to another key before it is locked. The fingerprint under the
//    lock is another one, so the request starts again. From the lock on nothing can change:
//    whoever gives a slot away must have its lock.
//
// 3. Two keys of the request seem to lie in one slot: it was the first key's when that was looked
//    up, and the second key's a moment later. Locking it twice would wait for itself for ever, so
//    the list of locks has each slot once. The comparison then fails for the first key: as in 2.
//
// 4. A key has no slot and needs none (a peek, a cost that can never pass). It is judged as fresh,
//    but what is not there cannot be locked: another thread may insert it at any moment. So it is
//    looked for once more when all other locks are held. That look (the first, if several keys are
//    absent) is the request's place in the order. Who inserts the key later comes later, and
//    cannot have come before this request by way of another key, for those are locked. Who
//    inserted it earlier and then unlocked one of these other keys is seen, because taking that
//    lock acquires what its last holder released.
//
// 5. A slot was made for the request, which still looks for its other keys. A slot without a state
//    is free for the taking, so a new one is reserved: heat, and an expiry two seconds ahead, keep
//    others off. If the request does not use it, UnlockAll frees it. Two requests with the same
//    new key may share such a slot, and the first to finish frees it under the other one's hands:
//    that one finds the same fingerprint and a fresh state, or another fingerprint, as in 2. A
//    process that is killed leaves a reserved slot behind: its state is a fresh key's, and in two
//    seconds it is free.
//
// 6. The request needs a block for an entry or a hold, and the pool has none. Making room takes
//    other keys' locks while this request holds its own. It only ever tries them
//    (SlotArray::FreeBlocks), so it waits for no thread, and it skips its own keys because
//    they are locked.
//
// 7. The process is killed. Before Publish() nothing is written. Between Publish() and Retire()
//    the next start puts every old byte back (journal.h). After Retire() the charge stands as a
//    whole. Blocks that fell out of a chain go back to the pool behind Retire() and not earlier:
//    the old bytes still link to them, and a block must never be in two chains.
//
// 8. A thread sleeps between reading the clock and taking its locks, so that its `now` is older
//    than what a later thread has written. The algorithms take a step back for no time passed, so
//    the sleeper is judged as of the later moment.
//
// 9. Others take this request's slots each time, kTries times over. Then it gives up, as if there
//    were no room: its checks are denied or, where `when_full` says allow, pass unmetered.
//
// Bans stand aside of all this. They are looked up before the first lock and denials are counted
// behind the last, each with one lock of its own. A ban that another thread imposes meanwhile is
// ordered behind this request.
namespace sluice::store {

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

// A shadow check of a request that others deny counts for nothing.
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
      // This denial bans the key, so a caller that waits for the limit must also wait for the ban.
      decision.retry_after = core::WaitOfBanned(check.ban->lasts, decision.retry_after);
      decision.reset_after = std::max(decision.reset_after, check.ban->lasts);
    }
  }
}

void Request::MakeDrafts() {
  for (std::size_t i = 0; i < call_.checks.size(); ++i) {
    const Check& check = call_.checks[i];
    call_.answers[i] = {};
    // Checks of the same key share a draft, so each sees what those before it take.
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
  // Reserved for a moment: until LockAll() has it, no other thread takes the empty slot for a key
  // of its own.
  if (ours && slot->expiry.load(std::memory_order_relaxed) == 0) {
    slot->state = {};
    slot->heat.store(kReservedHeat, std::memory_order_relaxed);
    slot->expiry.store(ExpirySecond(turn_.now.monotonic + kReservedFor, turn_.now.monotonic),
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
  // All threads take their locks in this order, so there is no cycle of waiters.
  std::sort(locked_.begin(), end);
  locked_count_ = static_cast<std::uint32_t>(std::unique(locked_.begin(), end) - locked_.begin());
  for (std::uint32_t i = 0; i < locked_count_; ++i) {
    Lock(*locked_[i], turn_.owner());
  }
  // Between finding and locking, a slot may have become another key's, and a key may have got a
  // slot. Then the request starts again.
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
      slot.expiry.store(0, std::memory_order_relaxed);  // Reserved, but not used.
    }
    Unlock(slot);
  }
  locked_count_ = 0;
}

// The table is so crowded that the slots are lost again each time: there is no room for this
// request. That also holds for a check that needs no slot: its key may be there, but its state
// cannot be read.
void Request::GiveUp() {
  for (Draft& draft : Drafts()) {
    draft.full = true;
    draft.slot = nullptr;
  }
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
  // Everything is saved before anything is written, so an undo restores all slots of the request.
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
    // Behind the states: a hold goes into the list that was just written.
    if (core::HasHolds(check.quota.algorithm) && call_.answers[i].charged) {
      call_.answers[i].hold = DraftOf(i).AddHold(core_, turn_, check);
      call_.answers[i].receipt.store_id = core_.id;
    }
  }
  journal.Retire();
  for (Draft& draft : Drafts()) {
    // Not earlier: until the record is retired, an undo may link these blocks again.
    draft.GiveBlocks(core_);
  }
}

}  // namespace sluice::store
