#include <algorithm>
#include <chrono>

#include "lease/borrower.h"
#include "lease/lease_policy.h"

// Learns from the shared store's answers about keys, and answers from that knowledge.
namespace sluice::lease {

namespace {

double InSeconds(Duration duration) {
  return std::chrono::duration<double>(duration).count();
}

}  // namespace

double Borrower::FirstShare() const {
  const int nodes = std::max(1, ground_.nodes.load(std::memory_order_relaxed));
  const int books = std::max(1, ground_.books.load(std::memory_order_relaxed));
  return 1.0 / (static_cast<double>(nodes) * books);
}

LeaseView Borrower::LeaseViewOf(const LeaseEntry& entry, NodeTime now) const {
  return entry.ViewAt(now, FirstShare(), round_trip_s_);
}

double Borrower::Jitter() {
  return 0.75 + 0.5 * random_.Fraction();
}

void Borrower::LearnTime(WallInstant at, NodeTime sent, NodeTime now) {
  constexpr double kShortestSeconds = 10e-6;
  round_trip_s_ += (std::max(InSeconds(now - sent), kShortestSeconds) - round_trip_s_) / 8;
  // Counts from now, so a reported wait is too long by the way back, never too short.
  store_ahead_ = at.time_since_epoch() - now;
}

void Borrower::Learn(LeaseEntry& entry, Units cost, const store::CheckAnswer& answer,
                     WallInstant at, NodeTime sent) {
  constexpr Duration kSame =
      std::chrono::milliseconds(2);  // Two ends that differ by less belong to the same window.
  const Decision& said = answer.decision;
  const WallInstant fresh_at = Later(at, said.reset_after);
  if (entry.is_window() && said.reset_after > Duration(0)) {
    if (entry.is_known && fresh_at < entry.fresh_at - kSame && sent < entry.ends) {
      return;  // From an earlier window.
    }
    if (!entry.is_known || fresh_at - kSame > entry.fresh_at || fresh_at < entry.fresh_at - kSame) {
      entry.last_share = entry.share;
      entry.own = 0;
    }
    entry.ends = Later(sent, UsableTime(said.reset_after));
  }
  entry.is_known = true;
  entry.limit = said.limit;
  entry.remaining = said.remaining;
  entry.learned_at = sent;
  entry.fresh_at = fresh_at;
  entry.own += answer.charged ? cost : 0;
  entry.UpdateShare(FirstShare(), sent);
}

void Borrower::LearnDenial(LeaseEntry& entry, Units cost, const Decision& denial, WallInstant at,
                           NodeTime sent, NodeTime now) {
  entry.denied_until = {};
  if (denial.allowed || denial.reason != Reason::kQuotaExceeded ||
      denial.retry_after >= Decision::kUnknown) {
    return;
  }
  entry.denied_until = sent + DenialTime(LeaseViewOf(entry, now), denial.retry_after, Jitter());
  entry.denied_cost = cost;
  entry.denial = denial;
  entry.retry_at = Later(at, denial.retry_after);
  // The entry holds fewer units than were asked for. Together with the store's they may be enough.
  GiveBackAll(entry, now);
  entry.borrow_after = std::max(entry.denied_until, now + entry.span / 64);
}

store::CheckAnswer Borrower::Allowed(const LeaseEntry& entry, NodeTime now, bool charged) const {
  store::CheckAnswer answer;
  answer.charged = charged;
  answer.decision = {
      .allowed = true,
      .limit = entry.limit,
      .remaining = std::clamp<Units>(entry.remaining + entry.Held(now), 0, entry.limit),
      .reset_after = std::max(entry.fresh_at - StoreTime(now), Duration(0))};
  return answer;
}

store::CheckAnswer Borrower::Denied(const LeaseEntry& entry, NodeTime now) const {
  store::CheckAnswer answer;
  answer.decision = entry.denial;
  answer.decision.retry_after =
      std::max({entry.retry_at - StoreTime(now), entry.denied_until - now, Duration(1)});
  answer.decision.reset_after = std::max(entry.fresh_at - StoreTime(now), Duration(0));
  return answer;
}

}  // namespace sluice::lease
