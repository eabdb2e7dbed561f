#include "lease/borrower.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "core/quota.h"
#include "lease/borrow_calls.h"

// Deciding by units that others have paid for
// ===========================================
//
// The problem. A quota is in a store that nodes share, and most requests must be decided without
// asking it. So this node borrows: the shared store debits some units at once, and the node spends
// them. Of a request with several checks, some may be decided by held units, some by the node's own
// table, and some only by the shared store. Under all or nothing, one denial takes back all of
// them. Meanwhile units are in transit in both directions, windows end, operators reset keys, and
// answers come late or never.
//
// One thread owns a book, so nothing here races with another thread. But events interleave: between
// a call to the shared store and its answer, anything may happen. Such a call pins the entry that
// it refers to, so the entry is there when the answer comes. The cases that matter:
//
// 1. Held units decide a part of a request, and the rest is sent. The units are taken at once, so
//    no other request can spend them. If the rest is denied, they return to their grant, by the
//    grant's number. If that grant has ended or was dropped meanwhile, the units are void: they
//    stay debited, which may deny and never admits.
//
// 2. Two requests want the last held units. The first takes them, and the shared store is asked for
//    the second. No request waits for a borrow.
//
// 3. The key is reset during a borrow. The store may have debited it before or after the reset.
//    Drop() starts a new epoch of the entry, and a grant from an older epoch is void: if it was
//    debited after the reset, it stays spent.
//
// 4. A window ends during a borrow. A grant's end is counted from when its call was sent, so it is
//    never later than the end by the store's clock. An answer after that grants nothing.
//
// 5. The answer to a call of an earlier window arrives after one of this window. It says nothing
//    about this window and is ignored (Learn() compares the ends).
//
// 6. The node's own table has charged a request, and later the shared store denies its other
//    checks. Each charge has a receipt and is settled at 0; a hold is released. Meanwhile other
//    requests may have been denied because of it. So all or nothing over two stores may deny once
//    too often, and never too rarely.
//
// 7. A denial is remembered for a while. A refund or settlement that this loop sends clears it. The
//    loop learns of others when the time is over and it asks the store again.
//
// 8. The answer never comes, or says that the outcome is unknown. A borrow then counts as spent,
//    and a return as lost.
//
// 9. A sender that gets its answer may send the next call, or destroy the answered one, before this
//    returns. So a SplitCall is free again before its sender is notified, and the buffer for a
//    batch is moved out of the book while the batch is sent.
//
// grants.cc explains grants, and why no more than the quota passes over all nodes.
namespace sluice::lease {

void Borrower::CheckMany(std::span<store::CheckCall* const> batch) {
  const NodeTime now = Now();
  // A callback may send further calls, which find the room taken.
  std::vector<store::CheckCall*> to_send = std::move(to_send_);
  to_send.clear();
  for (store::CheckCall* const call : batch) {
    if (store::CheckCall* const asked = Split(*call, now); asked != nullptr) {
      to_send.push_back(asked);
    }
  }
  if (!to_send.empty()) {
    ground_.shared.CheckMany(to_send);
  }
  to_send_ = std::move(to_send);
}

bool Borrower::IsLent(const store::CheckCall& call, const store::Check& check) {
  return check.sync == core::Sync::kLease && !call.peek && !check.shadow && !check.want_receipt &&
         check.ban == nullptr && check.cost.units > 0 && check.quota.limit > 0 &&
         !check.quota.unlimited && core::CanBeLent(check.quota);
}

store::CheckCall* Borrower::Split(store::CheckCall& call, NodeTime now) {
  if (call.request_id != 0 || call.checks.size() > store::kMaxChecksPerCall) {
    return &call;
  }
  std::size_t local = 0;
  std::size_t lent = 0;
  for (const store::Check& check : call.checks) {
    local += check.sync == core::Sync::kLocal ? 1 : 0;
    lent += IsLent(call, check) ? 1 : 0;
  }
  if (local + lent == 0) {
    return &call;
  }
  // Nothing of it is shared: the table of the node answers all of it.
  if (local == call.checks.size()) {
    store::CheckCall* const one = &call;
    ground_.local.CheckMany({&one, 1});
    return nullptr;
  }
  SLUICE_ASSERT(call.answers.size() == call.checks.size());
  std::ranges::fill(call.answers, store::CheckAnswer{});
  SplitCall& split = Take(splits_);
  split.Begin(call, now);
  const bool is_answered = lent == 0                 ? false
                           : call.checks.size() == 1 ? DecideOne(split, now)
                                                     : DecideSome(split, now);
  if (is_answered) {
    return nullptr;
  }
  if (local != 0) {
    DecideLocally(split, now);
  }
  if (!split.Seal()) {
    Finish(split, now, /*denied=*/false);
    return nullptr;
  }
  ++open_;
  return &split;
}

LeaseEntry* Borrower::Look(const store::Check& check, NodeTime now) {
  const store::Fingerprint key = FingerprintOf(check);
  LeaseEntry* entry = book_.Find(key, check.quota);
  if (entry == nullptr) {
    entry = book_.Add(key, check.key, check.quota, now);
    if (entry == nullptr) {
      ground_.metrics.Count(LeaseCount::kUnknownKeys);
      return nullptr;
    }
    ground_.metrics.AddKeys(1);
    if (!is_counted_) {
      is_counted_ = true;
      ground_.books.fetch_add(1, std::memory_order_relaxed);
    }
  }
  entry->arrivals.Add(check.cost.units, now);
  entry->last_cost = check.cost.units;
  return entry;
}

bool Borrower::DecideOne(SplitCall& split, NodeTime now) {
  store::CheckCall& call = *split.call;
  const store::Check& check = call.checks[0];
  LeaseEntry* const entry = Look(check, now);
  if (entry == nullptr) {
    return false;
  }
  if (entry->Take(check.cost.units, now) != 0) {
    // A request never waits for a borrow: that begins once the answer is made.
    call.answers[0] = Allowed(*entry, now, /*charged=*/true);
    ground_.metrics.Count(LeaseCount::kAllowedHere);
    BorrowIfDue(*entry, now);
  } else if (entry->DenialHolds(check.cost.units, now)) {
    call.answers[0] = Denied(*entry, now);
    ground_.metrics.Count(LeaseCount::kDeniedHere);
  } else {
    // Only the store knows. Pinned, the entry is still there when the answer comes.
    ++entry->pinned;
    split.known.push_back({.check = 0, .entry = entry});
    return false;
  }
  split.Decided(0);
  (void)split.Seal();
  Finish(split, now, /*denied=*/false);
  return true;
}

bool Borrower::DecideSome(SplitCall& split, NodeTime now) {
  store::CheckCall& call = *split.call;
  bool is_denied = false;
  for (std::size_t i = 0; i < call.checks.size(); ++i) {
    const store::Check& check = call.checks[i];
    LeaseEntry* const entry = IsLent(call, check) ? Look(check, now) : nullptr;
    if (entry == nullptr) {
      continue;
    }
    if (const std::uint32_t grant = entry->Take(check.cost.units, now); grant != 0) {
      ++entry->pinned;
      // Taken at once, so that no other request spends them meanwhile. They go back if another
      // check denies.
      split.reserved.push_back({.check = i, .entry = entry, .grant = grant});
      split.Decided(i);
      continue;
    }
    const bool holds = entry->DenialHolds(check.cost.units, now);
    // Each check stands alone: a denial that is known needs no call.
    if (holds && !split.is_all_or_nothing()) {
      call.answers[i] = Denied(*entry, now);
      ground_.metrics.Count(LeaseCount::kDeniedHere);
      split.Decided(i);
      continue;
    }
    is_denied |= holds;
    ++entry->pinned;
    split.known.push_back({.check = i, .entry = entry});
  }
  return is_denied && Deny(split, now);
}

bool Borrower::Deny(SplitCall& split, NodeTime now) {
  store::CheckCall& call = *split.call;
  // An answer has numbers of every check. Where one is not known here, the store must be asked,
  // though the outcome is clear.
  const bool all_known =
      split.reserved.size() + split.known.size() == call.checks.size() &&
      std::ranges::all_of(split.known, [&](const SplitCall::Known& known) {
        return known.entry->DenialHolds(call.checks[known.check].cost.units, now);
      });
  ReturnReserved(split, now);
  if (!all_known) {
    for (const SplitCall::Reserved& reserved : split.reserved) {
      split.Undecided(reserved.check);
      split.known.push_back({.check = reserved.check, .entry = reserved.entry});
    }
    split.reserved.clear();
    return false;
  }
  for (const SplitCall::Known& known : split.known) {
    call.answers[known.check] = Denied(*known.entry, now);
    ground_.metrics.Count(LeaseCount::kDeniedHere);
    split.Decided(known.check);
    --known.entry->pinned;
  }
  split.known.clear();
  (void)split.Seal();
  Finish(split, now, /*denied=*/true);
  return true;
}

void Borrower::ReturnReserved(SplitCall& split, NodeTime now) {
  for (const SplitCall::Reserved& reserved : split.reserved) {
    reserved.entry->Return(reserved.grant, split.call->checks[reserved.check].cost.units, now);
  }
}

void Borrower::Finish(SplitCall& split, NodeTime now, bool denied) {
  store::CheckCall& call = *split.call;
  split.HandOver(StoreTime(now));
  for (const SplitCall::Reserved& reserved : split.reserved) {
    call.answers[reserved.check] = Allowed(*reserved.entry, now, !denied);
    ground_.metrics.Count(LeaseCount::kAllowedHere);
    BorrowIfDue(*reserved.entry, now);
    --reserved.entry->pinned;
  }
  for (const SplitCall::Known& known : split.known) {
    BorrowIfDue(*known.entry, now);
    --known.entry->pinned;
  }
  for (const std::size_t i : split.local) {
    if (!call.checks[i].want_receipt) {
      call.answers[i].receipt = {.store_id = call.answers[i].receipt.store_id};
    }
  }
  // Free again before the sender hears of it: that may send its next request at once.
  splits_.emplace_back(&split);
  call.OnAnswered();
}

void Borrower::OnAnswered(SplitCall& split) noexcept {
  --open_;
  const NodeTime now = Now();
  if (split.error == store::StoreError::kNone) {
    LearnTime(split.now, split.sent, now);
    for (const SplitCall::Known& known : split.known) {
      const store::CheckAnswer& answer = split.AnswerTo(known.check);
      if (!split.peek && answer.error == store::StoreError::kNone) {
        const Units cost = split.call->checks[known.check].cost.units;
        Learn(*known.entry, cost, answer, split.now, split.sent);
        LearnDenial(*known.entry, cost, answer.decision, split.now, split.sent, now);
      }
    }
  }
  const bool denied = split.IsDenied();
  if (denied) {
    ReturnReserved(split, now);
    UndoLocally(split);
  }
  Finish(split, now, denied);
}

}  // namespace sluice::lease
