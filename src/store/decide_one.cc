#include "store/decide_one.h"

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/assert.h"
#include "core/steps.h"
#include "store/draft.h"
#include "store/judge.h"

namespace sluice::store {

namespace {

// Finds and locks the key's slot, or inserts one if the check may be charged. nullptr: it has none,
// or, with *full set, there is no room or other threads took it each time.
Slot* FindAndLock(TableCore& core, const Turn& turn, const CheckCall& call, const Fingerprint& key,
                  bool* full) {
  const auto wants_slot = [&call] { return !call.peek && WantsSlot(call.checks[0]); };
  for (int i = 0; i < kTries; ++i) {
    Slot* slot = core.slots.Find(key);
    if (slot != nullptr) [[likely]] {
      Lock(*slot, turn.owner());
    } else if (!wants_slot()) {
      return nullptr;
    } else {
      slot = core.slots.Insert(NewcomerOf(core, turn, call.checks[0], key));
      if (slot == nullptr) {
        break;
      }
    }
    if (FingerprintOf(*slot) == key) [[likely]] {
      return slot;
    }
    Unlock(*slot);
  }
  *full = true;
  return nullptr;
}

// A state from and into a slot goes word by word, and an answer field by field: copied whole they
// are moved 16 bytes at a time, and each such load waits for the two stores of 8 that have just
// made it. That was a quarter of a decision.
template <class State>
State StateIn(const Slot& slot) {
  static_assert(sizeof(State) == sizeof(RawState));
  const bool fresh = slot.expiry.load(std::memory_order_relaxed) == 0;
  State state;
  for (std::size_t i = 0; i < slot.state.words.size(); ++i) {
    const std::uint64_t word = fresh ? 0 : slot.state.words[i];
    std::memcpy(reinterpret_cast<char*>(&state) + i * sizeof(word), &word, sizeof(word));
  }
  return state;
}

template <class State>
void PutState(Slot& slot, const State& state) {
  for (std::size_t i = 0; i < slot.state.words.size(); ++i) {
    std::memcpy(&slot.state.words[i],
                reinterpret_cast<const char*>(&state) + i * sizeof(std::uint64_t),
                sizeof(std::uint64_t));
  }
}

// Writes the state after a charge: all of it or, if the process is killed meanwhile, nothing.
template <class State>
void Write(TableCore& core, const Turn& turn, Slot& slot, const State& state, TableInstant expiry) {
  const std::uint32_t second = ExpirySecond(expiry, turn.now.monotonic);
  Journal journal(core.base, core.journal[turn.thread]);
  journal.Save(&slot.rule, kSlotImageBytes);
  journal.Publish();
  PutState(slot, state);
  slot.expiry.store(second, std::memory_order_relaxed);
  journal.Retire();
}

// Writes each field once: zeroing the whole object first costs more than writing all of them.
void Answer(CheckAnswer& answer, const Decision& decision, const Check& check) {
  answer.error = StoreError::kNone;
  answer.decision.allowed = decision.allowed;
  answer.decision.reason = decision.reason;
  answer.decision.shadow = check.shadow;
  answer.decision.degraded = decision.degraded;
  answer.decision.limit = decision.limit;
  answer.decision.remaining = decision.remaining;
  answer.decision.retry_after = decision.retry_after;
  answer.decision.reset_after = decision.reset_after;
  answer.decision.wait = decision.wait;
  answer.charged = false;
  answer.shard = 0;
  answer.hold = 0;
  answer.receipt = {};
}

// A check whose key has no slot: there is no room for one, or the check changes nothing.
[[gnu::noinline]] Decision DecideAbsent(TableCore& core, const Turn& turn, const CheckCall& call,
                                        bool full) {
  const Check& check = call.checks[0];
  if (full) {
    return DecideFull(core, turn, check);
  }
  const EntryView no_entries(core.blocks, ListState{}, EntryChange{});
  return call.peek
             ? JudgePeek(check.quota, RawState{}, no_entries, turn.now, check.cost, 0)
             : JudgeCheck(check.quota, RawState{}, no_entries, turn.now, check.cost, 0).decision;
}

// Judges by one algorithm. Its steps are inlined, so a bucket's answer and state stay in registers
// instead of passing through memory.
template <class Steps>
[[gnu::flatten]] void DecideAs(TableCore& core, const Turn& turn, const CheckCall& call,
                               const Fingerprint& key) {
  const Check& check = call.checks[0];
  CheckAnswer& answer = call.answers[0];
  bool full = false;
  Slot* slot = FindAndLock(core, turn, call, key, &full);
  if (slot == nullptr) [[unlikely]] {
    Answer(answer, DecideAbsent(core, turn, call, full), check);
    return;
  }
  const auto state = StateIn<typename Steps::State>(*slot);
  if (call.peek) [[unlikely]] {
    Answer(answer, Steps::Peek(check.quota, state, turn.now, check.cost).decision, check);
  } else {
    Warm(*slot);  // A denial counts as a use too: a key that is out of quota must not be forgotten.
    const auto outcome = Steps::Check(check.quota, state, turn.now, check.cost);
    Answer(answer, outcome.decision, check);
    if ((outcome.decision.allowed || Steps::kTraits.charges_denials) && check.cost.units > 0) {
      Write(core, turn, *slot, outcome.on_allow, Steps::Expiry(check.quota, outcome.on_allow));
      Charged(core, turn, check, answer);
    }
  }
  Unlock(*slot);
}

}  // namespace

void DecideOne(TableCore& core, const Turn& turn, const CheckCall& call, const Fingerprint& key) {
  core::VisitSteps(call.checks[0].quota.algorithm, [&]<class Steps>() {
    if constexpr (Steps::kTraits.has_items()) {
      SLUICE_ASSERT(false);  // Not plain.
    } else {
      DecideAs<Steps>(core, turn, call, key);
    }
  });
}

}  // namespace sluice::store
