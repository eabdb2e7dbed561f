#pragma once

#include <array>
#include <cstdint>

#include "sluice/decision.h"
#include "sluice/time.h"

#include "core/key.h"
#include "core/quota.h"
#include "core/wide.h"
#include "lease/lease_policy.h"
#include "store/key_store.h"
#include "store/slot.h"

namespace sluice::lease {

// Time since boot, by the machine's own clock. A grant ends on this clock, which never steps and
// continues while the machine sleeps.
using NodeTime = Duration;

// A key may owe more than 292 years of refill: the sum stops at the latest instant.
[[nodiscard]] inline NodeTime Later(NodeTime at, Duration wait) {
  return NodeTime(core::Plus(at.count(), wait.count()));
}
[[nodiscard]] inline WallInstant Later(WallInstant at, Duration wait) {
  return WallInstant(Later(at.time_since_epoch(), wait));
}

// Units that the shared store debited for this book, with what it takes to give them back. Two
// grants are never added up: each ends when it ends.
struct Grant {
  // From here on its units are void on this node; the lender counts them as spent.
  NodeTime ends{};
  Units left = 0;  // 0: there is no grant here.
  Units charged = 0;
  store::Receipt receipt{};
  std::uint32_t number = 0;  // Unique within the entry.
};

// How fast units arrive: those of this period, and those of the previous one in proportion to how
// much of it a full period that ends now would cover.
class ArrivalRate {
 public:
  void Start(NodeTime now, Duration period);
  void Add(Units units, NodeTime now);
  // Per second, as of the last arrival; a pause does not lower it.
  [[nodiscard]] double PerSecond() const;
  [[nodiscard]] NodeTime last() const { return last_; }
  // All units that have arrived.
  [[nodiscard]] Units total() const { return total_; }

 private:
  Duration period_{};
  NodeTime began_{};  // This period.
  NodeTime first_{};
  NodeTime last_{};
  Units now_ = 0;  // This and the next two stop at kMaxUnits: a rate that high needs no more.
  Units before_ = 0;
  Units total_ = 0;
};

// What a book knows about one key under one quota. It belongs to one loop, and takes about 500
// bytes and the key's text.
struct LeaseEntry {
  // Of the book.
  store::Fingerprint fingerprint{};
  std::uint32_t next = 0;    // In its chain, or among the free.
  std::uint32_t pinned = 0;  // Calls in flight that refer to it: the entry is not forgotten.
  bool used = false;

  core::Key key;
  core::Quota quota;
  Duration span{};  // The window, or the time in which a bucket refills.

  // What is held, oldest first.
  std::array<Grant, 2> grants{};
  std::uint32_t last_grant = 0;
  std::uint32_t epoch = 0;  // Grows each time that all grants are dropped.
  bool borrowing = false;
  NodeTime borrow_after{};
  NodeTime give_back_after{};

  // The last report of the shared store.
  bool is_known = false;
  Units limit = 0;
  Units remaining = 0;
  NodeTime learned_at{};
  WallInstant fresh_at{};  // By the store's clock; of a window its end.
  NodeTime ends{};         // Of a window: when grants of it end.
  Units own = 0;           // Units of the window that were spent or borrowed by this book.
  double share = 0;        // Of all arrivals; 0: not known yet.
  double last_share = 0;   // As it was at the end of the window before.

  // A denial that is remembered as still valid.
  NodeTime denied_until{};
  Units denied_cost = 0;
  Decision denial{};
  WallInstant retry_at{};

  ArrivalRate arrivals;
  Units last_cost = 0;
  Units refill_point = 0;  // Above this, nothing is borrowed.

  [[nodiscard]] bool is_window() const {
    return core::Is<&core::AlgorithmTraits::is_aligned>(quota.algorithm);
  }
  // Of a bucket: the units per second that are refilled.
  [[nodiscard]] double Refill() const;
  // Units that may be spent now.
  [[nodiscard]] Units Held(NodeTime now) const;
  [[nodiscard]] bool HoldsAny() const { return grants[0].left > 0 || grants[1].left > 0; }
  // Takes `cost` from one grant that has it. Returns the grant's number; 0 if none has.
  [[nodiscard]] std::uint32_t Take(Units cost, NodeTime now);
  // Returns units to the grant of that number, if it is still here and usable.
  void Return(std::uint32_t number, Units cost, NodeTime now);

  // Whether the remembered denial answers a check of this cost.
  [[nodiscard]] bool DenialHolds(Units cost, NodeTime now) const {
    return now < denied_until &&
           (cost == denied_cost || (is_window() && cost > denied_cost && cost <= limit));
  }

  // After the shared store has reported what is left of a window: this book's share of what was
  // taken.
  void UpdateShare(double first_share, NodeTime now);

  [[nodiscard]] LeaseView ViewAt(NodeTime now, double first_share, double round_trip_s) const;
};

// The window, or the time in which a bucket refills; a day for civil periods.
[[nodiscard]] Duration SpanOf(const core::Quota& quota);

}  // namespace sluice::lease
