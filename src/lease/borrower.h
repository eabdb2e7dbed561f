#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/clock.h"
#include "base/random.h"
#include "lease/lease_book.h"
#include "lease/lease_metrics.h"
#include "lease/split_call.h"
#include "store/key_hash.h"
#include "store/key_store.h"

namespace sluice::lease {

// What all loops of a node share.
struct Ground {
  store::KeyStore& shared;
  store::KeyStore& local;  // Answers during the verb.
  const base::Clock& clock;
  const std::atomic<int>& nodes;  // Nodes that share `shared`, this one included.
  std::size_t most_keys = 0;      // The most keys that one loop may know.
  store::HashSecret secret{};
  LeaseMetrics metrics{};
  std::atomic<int> books{0};      // Loops of this node that have ever borrowed.
  std::atomic<int> under_way{0};  // Grants on their way back.
};

// What this node knows of one key that it borrows for, over all its loops.
struct BorrowedUnits {
  int loops = 0;          // That know the key. 0: none borrowed for it lately.
  Units held = 0;         // Borrowed and not spent: by these it allows without asking.
  Duration denied_for{};  // The longest time for which a loop takes an earlier denial for granted.
};

// One loop's side of lease_store.h: takes requests apart, decides by what it holds, borrows and
// gives back. One thread.
class Borrower {
 public:
  // `ground` outlives it. `seed` starts its random numbers, so that nodes do not act at the same
  // time.
  Borrower(Ground& ground, std::uint64_t seed);
  // Every call that it sent must have been answered.
  ~Borrower();
  Borrower(const Borrower&) = delete;
  Borrower& operator=(const Borrower&) = delete;

  // Requires that at least one check of the call is not core::Sync::kExact.
  void CheckMany(std::span<store::CheckCall* const> batch);

  // The key was reset: the units held for it are void.
  void Drop(const store::Fingerprint& key);
  // Puts units that this book granted and that were not used back into a grant. False if no such
  // grant is left.
  [[nodiscard]] bool TakeBack(const store::Fingerprint& key, Units units);
  // The key got units back, so its remembered denial is no longer valid.
  void ForgetDenial(const store::Fingerprint& key);

  // Adds what this book knows of the key.
  void Report(const store::Fingerprint& key, const core::Quota& quota, BorrowedUnits& report);

  // Gives back units that are not used, and forgets keys. Call it every kTick while has_work().
  static constexpr Duration kTick = std::chrono::milliseconds(50);
  void Tick();
  [[nodiscard]] bool has_work() const { return book_.size() != 0; }

  // Stops borrowing; the following ticks give everything back.
  void Drain() { draining_ = true; }

  [[nodiscard]] std::size_t keys() const { return book_.size(); }

 private:
  friend class SplitCall;
  class Borrow;
  class GiveBack;

  // The call to send for it; nullptr if it was answered.
  [[nodiscard]] store::CheckCall* Split(store::CheckCall& call, NodeTime now);
  // Whether it may be decided by borrowed units.
  [[nodiscard]] static bool IsLent(const store::CheckCall& call, const store::Check& check);
  // nullptr: the book has no room for another key.
  [[nodiscard]] LeaseEntry* Look(const store::Check& check, NodeTime now);
  // Decides the one check of the split call, if it can; the sender's call may be gone then.
  [[nodiscard]] bool DecideOne(SplitCall& split, NodeTime now);
  // Decides each check that it can. True if the whole call was answered.
  [[nodiscard]] bool DecideSome(SplitCall& split, NodeTime now);
  // Denies a request by a remembered denial. True if all of its numbers are known here and it was
  // answered; otherwise all of it must be sent.
  [[nodiscard]] bool Deny(SplitCall& split, NodeTime now);
  // The checks that the node's own table decides.
  void DecideLocally(SplitCall& split, NodeTime now);
  void UndoLocally(SplitCall& split);
  void ReturnReserved(SplitCall& split, NodeTime now);
  // Combines the answers for the sender, whose call may be gone afterwards.
  void Finish(SplitCall& split, NodeTime now, bool denied);
  void OnAnswered(SplitCall& split) noexcept;

  // The shared store's answer about a key.
  void Learn(LeaseEntry& entry, Units cost, const store::CheckAnswer& answer, WallInstant at,
             NodeTime sent);
  void LearnDenial(LeaseEntry& entry, Units cost, const Decision& denial, WallInstant at,
                   NodeTime sent, NodeTime now);
  // Measures the round trip to the shared store and notes its clock.
  void LearnTime(WallInstant at, NodeTime sent, NodeTime now);
  // From what this loop knows.
  [[nodiscard]] store::CheckAnswer Allowed(const LeaseEntry& entry, NodeTime now,
                                           bool charged) const;
  [[nodiscard]] store::CheckAnswer Denied(const LeaseEntry& entry, NodeTime now) const;
  [[nodiscard]] WallInstant StoreTime(NodeTime now) const {
    return WallInstant(store_ahead_ + now);
  }

  void BorrowIfDue(LeaseEntry& entry, NodeTime now);
  void OnBorrowed(Borrow& borrow) noexcept;
  void Place(LeaseEntry& entry, const Borrow& borrow, NodeTime ends);
  void GiveBackAll(LeaseEntry& entry, NodeTime now);
  void GiveBackGrant(LeaseEntry& entry, Grant& grant, NodeTime now);
  void OnGivenBack(GiveBack& back) noexcept;
  // The grant is over; its remaining units are void.
  void Clear(Grant& grant);
  void Tend(LeaseEntry& entry, NodeTime now);

  [[nodiscard]] NodeTime Now() const { return ground_.clock.Read().boot; }
  [[nodiscard]] LeaseView LeaseViewOf(const LeaseEntry& entry, NodeTime now) const;
  [[nodiscard]] double FirstShare() const;
  [[nodiscard]] double Jitter();  // A random factor from 0.75 to 1.25.
  [[nodiscard]] store::Fingerprint FingerprintOf(const store::Check& check) const {
    return store::KeyHash(ground_.secret).Of(check.key.rule, check.key, check.quota);
  }

  template <class Call>
  [[nodiscard]] Call& Take(std::vector<std::unique_ptr<Call>>& free);

  Ground& ground_;
  LeaseBook book_;
  bool draining_ = false;
  bool is_counted_ = false;  // Whether it is one of the ground's books.
  double round_trip_s_ = 0.001;
  Duration store_ahead_{};  // The shared store's wall clock less the node's time, as last seen.
  base::Random random_;
  std::size_t open_ = 0;  // Our calls in flight.
  std::size_t backs_open_ = 0;
  // Calls that are not in use.
  std::vector<std::unique_ptr<SplitCall>> splits_;
  std::vector<std::unique_ptr<Borrow>> borrows_;
  std::vector<std::unique_ptr<GiveBack>> backs_;
  // Reused buffers.
  std::vector<store::CheckCall*> to_send_;
  std::vector<store::Check> local_checks_;
  std::vector<store::CheckAnswer> local_answers_;
};

}  // namespace sluice::lease
