#include "lease/lease_entry.h"

#include <algorithm>
#include <chrono>

#include "base/assert.h"

namespace sluice::lease {

namespace {

// The previous share weighs as much as this part (a quarter) of the limit does.
constexpr double kShareWeight = 4;

double Seconds(Duration duration) {
  return std::chrono::duration<double>(duration).count();
}

}  // namespace

void ArrivalRate::Start(NodeTime now, Duration period) {
  *this = {};
  period_ = period;
  began_ = first_ = last_ = now;
}

void ArrivalRate::Add(Units units, NodeTime now) {
  const Duration past = now - began_;
  if (past >= period_) {
    before_ = past < 2 * period_ ? now_ : 0;
    began_ = past < 2 * period_ ? began_ + period_ : now;
    now_ = 0;
  }
  now_ = std::min(now_ + units, kMaxUnits);  // Both are at most kMaxUnits: no overflow.
  total_ = std::min(total_ + units, kMaxUnits);
  last_ = now;
}

double ArrivalRate::PerSecond() const {
  const double period = Seconds(period_);
  const double past = std::min(Seconds(last_ - began_), period);
  // For a key that is known for less than a period: its rate over that time.
  const double over = std::clamp(Seconds(last_ - first_), period / 16, period);
  return (static_cast<double>(before_) * (1 - past / period) + static_cast<double>(now_)) / over;
}

double LeaseEntry::Refill() const {
  return core::IsBucket(quota.algorithm)
             ? static_cast<double>(quota.rate) / std::max(Seconds(quota.window), 1e-9)
             : 0;
}

Units LeaseEntry::Held(NodeTime now) const {
  Units held = 0;
  for (const Grant& grant : grants) {
    held += now < grant.ends ? grant.left : 0;
  }
  return held;
}

std::uint32_t LeaseEntry::Take(Units cost, NodeTime now) {
  for (Grant& grant : grants) {
    if (grant.left >= cost && now < grant.ends) {
      grant.left -= cost;
      return grant.number;
    }
  }
  return 0;
}

void LeaseEntry::Return(std::uint32_t number, Units cost, NodeTime now) {
  for (Grant& grant : grants) {
    if (grant.number == number && now < grant.ends) {
      grant.left += cost;
      return;
    }
  }
}

// The share begins with its previous value, which weighs less the more units have been taken. Half
// of the held units count as used: the report comes right after a grant, when this book holds the
// most, while the other books have used about half of their last grants.
void LeaseEntry::UpdateShare(double first_share, NodeTime now) {
  const double before = last_share > 0 ? last_share : first_share;
  const double weight = std::max(1.0, static_cast<double>(limit) / kShareWeight);
  const double spent = std::max(0.0, static_cast<double>(own) - static_cast<double>(Held(now)) / 2);
  const double by_all = std::max(static_cast<double>(limit - remaining), spent);
  share = std::min(1.0, (spent + before * weight) / (by_all + weight));
}

LeaseView LeaseEntry::ViewAt(NodeTime now, double first_share, double round_trip_s) const {
  const double rate = arrivals.PerSecond();
  const double span_s = Seconds(span);
  const double part = is_window() && share > 0 ? share : first_share;
  // The reported value is old: since then others took their share of arrivals, and a bucket was
  // refilled.
  const double since = Seconds(now - learned_at);
  const double change = is_window() ? -rate / part * since : Refill() * since;
  const double left =
      std::clamp(static_cast<double>(remaining) + change, 0.0, static_cast<double>(limit));
  const double seen = std::min(static_cast<double>(arrivals.total()), rate * span_s + 1);
  return {.is_window = is_window(),
          .limit = limit,
          .remaining = static_cast<Units>(left),
          .share = part,
          .rate = rate,
          .usable_s = is_window() ? Seconds(std::max(ends - now, Duration(0))) : span_s / 4,
          .span_s = span_s,
          .refill = Refill(),
          .round_trip_s = round_trip_s,
          .held = Held(now),
          .seen = static_cast<Units>(seen)};
}

Duration SpanOf(const core::Quota& quota) {
  constexpr double kLongestSeconds = 30.0 * 24 * 3600;
  double seconds = Seconds(quota.window);
  if (quota.calendar != nullptr) {
    seconds = 24 * 3600;
  } else if (core::IsBucket(quota.algorithm)) {
    seconds *=
        static_cast<double>(quota.limit) / static_cast<double>(std::max<Units>(quota.rate, 1));
  }
  return std::chrono::duration_cast<Duration>(
      std::chrono::duration<double>(std::clamp(seconds, 0.001, kLongestSeconds)));
}

}  // namespace sluice::lease
