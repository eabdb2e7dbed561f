#include <algorithm>
#include <chrono>
#include <memory>

#include "base/assert.h"
#include "lease/borrow_calls.h"
#include "lease/borrower.h"
#include "lease/lease_policy.h"

// Borrowing and giving back the units of keys.
//
// Why no more than the quota passes:
// - The shared store has debited each unit before it is spent here, in a check like any other.
// - A unit of a window is spent before that window ends. A grant ends at the time when its call was
//   *sent*, plus the time to the end in the answer. The store computed that time later, so the
//   grant's end is no later than the store's. An answer that comes after it grants nothing.
// - Units are given back by their receipt. The store accepts it once, and only while the charge
//   still counts by its own clock, so no unit of one window comes back in the next.
// - A call whose outcome is unknown counts as spent: a borrow without an answer grants nothing, and
//   the units of a node that died stay debited.
namespace sluice::lease {

namespace {

using std::chrono::milliseconds;

constexpr Duration kForgetAfter = std::chrono::seconds(10);
constexpr Duration kAfterNoAnswer = milliseconds(100);
constexpr std::size_t kMostBacksOpen = 1000;
constexpr std::size_t kTicksPerRound = 8;  // Each tick looks at this part of the book.

}  // namespace

Borrower::Borrower(Ground& ground, std::uint64_t seed)
    : ground_(ground), book_(ground.most_keys), random_(seed) {}

Borrower::~Borrower() {
  SLUICE_ASSERT(open_ == 0);
  book_.EachOfNext(book_.places(), [this](LeaseEntry& entry) {
    for (Grant& grant : entry.grants) {
      Clear(grant);
    }
  });
  ground_.metrics.AddKeys(-static_cast<int>(book_.size()));
  if (is_counted_) {
    ground_.books.fetch_sub(1, std::memory_order_relaxed);
  }
}

template <class Call>
Call& Borrower::Take(std::vector<std::unique_ptr<Call>>& free) {
  if (free.empty()) {
    return *std::make_unique<Call>(*this).release();
  }
  Call& call = *free.back().release();
  free.pop_back();
  return call;
}
template SplitCall& Borrower::Take(std::vector<std::unique_ptr<SplitCall>>& free);

void Borrower::BorrowIfDue(LeaseEntry& entry, NodeTime now) {
  for (Grant& grant : entry.grants) {
    if (now >= grant.ends) {
      GiveBackGrant(entry, grant, now);
    }
  }
  // One borrow at a time. None of a key that the store has said nothing of, none behind the end of
  // a window, and none while what is held lasts.
  if (draining_ || entry.borrowing || !entry.is_known || now < entry.borrow_after ||
      (entry.is_window() && now >= entry.ends) ||
      (entry.grants[0].left > 0 && entry.grants[1].left > 0) ||
      entry.Held(now) > entry.refill_point) {
    return;
  }
  const LeaseView view = LeaseViewOf(entry, now);
  entry.refill_point = RefillPoint(view.rate, round_trip_s_);
  const Units units = GrantOf(view);
  // After a failure or a denial the key waits before it borrows again, instead of asking with every
  // request.
  entry.borrow_after =
      now + std::chrono::duration_cast<Duration>(std::chrono::duration<double>(4 * round_trip_s_));
  if (units == 0) {
    return;
  }
  Borrow& borrow = Take(borrows_);
  borrow.Begin(entry, units, now);
  entry.borrowing = true;
  ++entry.pinned;
  ++open_;
  ground_.metrics.Count(LeaseCount::kBorrows);
  store::CheckCall* const one = &borrow;
  ground_.shared.CheckMany({&one, 1});
}

void Borrower::OnBorrowed(Borrow& borrow) noexcept {
  --open_;
  LeaseEntry& entry = *borrow.entry;
  const NodeTime now = Now();
  const store::CheckAnswer& answer = borrow.answer();
  entry.borrowing = false;
  --entry.pinned;
  const bool is_answered =
      borrow.error == store::StoreError::kNone && answer.error == store::StoreError::kNone;
  NodeTime ends{};  // Void.
  if (!is_answered) {
    entry.borrow_after = now + kAfterNoAnswer;
  } else if (borrow.epoch == entry.epoch) {
    // Otherwise a reset came in between: the answer is about the time before it, its units lapse.
    LearnTime(borrow.now, borrow.sent, now);
    Learn(entry, borrow.units(), answer, borrow.now, borrow.sent);
    if (answer.charged) {
      entry.borrow_after = {};
      // From the moment of sending: the store stated the time to the end later than that, so its
      // own end is no earlier. A bucket's charge has no end: what is left of it after a quarter of
      // its span goes back, as the key has become quiet.
      ends = Later(borrow.sent,
                   entry.is_window() ? UsableTime(answer.decision.reset_after) : entry.span / 4);
    }
  }
  if (is_answered && answer.charged) {
    ground_.metrics.Count(LeaseCount::kBorrowedUnits, static_cast<std::uint64_t>(borrow.units()));
  }
  if (now < ends) {
    Place(entry, borrow, ends);
  } else {
    ground_.metrics.Count(LeaseCount::kFailedBorrows);
    if (is_answered && answer.charged) {
      ground_.metrics.Count(LeaseCount::kLapsedUnits, static_cast<std::uint64_t>(borrow.units()));
    }
  }
  borrows_.emplace_back(&borrow);
}

void Borrower::Place(LeaseEntry& entry, const Borrow& borrow, NodeTime ends) {
  // The older grant stays in front: it ends first, so it is spent first.
  if (entry.grants[0].left == 0) {
    std::swap(entry.grants[0], entry.grants[1]);
  }
  Grant& grant = entry.grants[0].left == 0 ? entry.grants[0] : entry.grants[1];
  Clear(grant);
  // 0 names no grant, also where the numbers wrap around.
  entry.last_grant = std::max(entry.last_grant + 1, 1U);
  grant = {.ends = ends,
           .left = borrow.units(),
           .charged = borrow.units(),
           .receipt = borrow.answer().receipt,
           .number = entry.last_grant};
  ground_.metrics.AddHeld(1);
  entry.UpdateShare(FirstShare(), borrow.sent);
}

void Borrower::Clear(Grant& grant) {
  if (grant.number != 0) {
    ground_.metrics.AddHeld(-1);
    ground_.metrics.Count(LeaseCount::kLapsedUnits, static_cast<std::uint64_t>(grant.left));
    grant = {};
  }
}

void Borrower::GiveBackAll(LeaseEntry& entry, NodeTime now) {
  for (Grant& grant : entry.grants) {
    GiveBackGrant(entry, grant, now);
  }
}

void Borrower::GiveBackGrant(LeaseEntry& entry, Grant& grant, NodeTime now) {
  if (grant.left == 0) {
    return;
  }
  // The charge no longer counts in the store: there is nothing to give back.
  if (entry.is_window() && now >= grant.ends) {
    Clear(grant);
    return;
  }
  GiveBack& back = Take(backs_);
  back.Begin(entry, grant);
  // Not lapsed, but on its way back: Clear() counts what it finds.
  grant.left = 0;
  Clear(grant);
  ++entry.pinned;
  ++open_;
  ++backs_open_;
  ground_.under_way.fetch_add(1, std::memory_order_relaxed);
  ground_.shared.Settle(back);
}

void Borrower::OnGivenBack(GiveBack& back) noexcept {
  --open_;
  --backs_open_;
  ground_.under_way.fetch_sub(1, std::memory_order_relaxed);
  LeaseEntry& entry = *back.entry;
  --entry.pinned;
  const auto units = static_cast<std::uint64_t>(back.back());
  if (back.error == store::StoreError::kNone && back.settled == back.units) {
    ground_.metrics.Count(LeaseCount::kGivenBackUnits, units);
    if (back.epoch == entry.epoch) {
      // The store has more than it last said, so a denial that is known may be over.
      entry.own -= back.back();
      entry.denied_until = {};
    }
  } else {
    ground_.metrics.Count(LeaseCount::kLapsedUnits, units);
  }
  backs_.emplace_back(&back);
}

void Borrower::Drop(const store::Fingerprint& key) {
  book_.EachOf(key, [this](LeaseEntry& entry) {
    for (Grant& grant : entry.grants) {
      Clear(grant);
    }
    // Answers under way speak of the time before, and this distinguishes them.
    ++entry.epoch;
    entry.is_known = false;
    entry.own = 0;
    entry.denied_until = {};
  });
}

bool Borrower::TakeBack(const store::Fingerprint& key, Units units) {
  const NodeTime now = Now();
  bool taken = false;
  book_.EachOf(key, [&](LeaseEntry& entry) {
    for (Grant& grant : entry.grants) {
      // Never more than the grant had, and only while it can be spent.
      if (!taken && grant.number != 0 && now < grant.ends && units <= grant.charged - grant.left) {
        grant.left += units;
        taken = true;
      }
    }
  });
  return taken;
}

void Borrower::ForgetDenial(const store::Fingerprint& key) {
  book_.EachOf(key, [](LeaseEntry& entry) { entry.denied_until = {}; });
}

void Borrower::Report(const store::Fingerprint& key, const core::Quota& quota,
                      BorrowedUnits& report) {
  const LeaseEntry* const entry = book_.Find(key, quota);
  if (entry == nullptr) {
    return;
  }
  const NodeTime now = Now();
  ++report.loops;
  report.held += entry->Held(now);
  report.denied_for = std::max(report.denied_for, entry->denied_until - now);
}

void Borrower::Tick() {
  const NodeTime now = Now();
  const std::size_t places = book_.places();
  book_.EachOfNext(draining_ ? places : (places + kTicksPerRound - 1) / kTicksPerRound,
                   [this, now](LeaseEntry& entry) { Tend(entry, now); });
}

void Borrower::Tend(LeaseEntry& entry, NodeTime now) {
  for (Grant& grant : entry.grants) {
    if (now >= grant.ends) {
      GiveBackGrant(entry, grant, now);
    }
    if (grant.left == 0 && entry.pinned == 0) {
      Clear(grant);  // While a call is in flight, a unit may come back to it.
    }
  }
  const NodeTime idle = now - entry.arrivals.last();
  if (entry.HoldsAny() && backs_open_ < kMostBacksOpen &&
      (draining_ || (now >= entry.give_back_after && idle >= IdleTime(LeaseViewOf(entry, now))))) {
    GiveBackAll(entry, now);
    // Each return leaves a record in the store for as long as its charge counts, so returns are
    // rare.
    entry.give_back_after = now + entry.span / 64;
  }
  const bool is_over = draining_ || (idle >= kForgetAfter && now >= entry.denied_until);
  if (is_over && entry.pinned == 0 && !entry.HoldsAny()) {
    for (Grant& grant : entry.grants) {
      Clear(grant);
    }
    book_.Forget(entry);
    ground_.metrics.AddKeys(-1);
  }
}

}  // namespace sluice::lease
