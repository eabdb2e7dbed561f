#include "lease/lease_policy.h"

#include <algorithm>
#include <chrono>
#include <cmath>

namespace sluice::lease {

namespace {

// The part of its share of the remaining units that a book borrows at once.
constexpr double kPartOfRest = 0.75;
// The part of its share of the limit below which a call is not worth it.
constexpr double kLeastPart = 0.025;
// Units of its share of the limit: below this, each unit is requested from the store.
constexpr double kSmallShare = 10;
// Units of its share of the rest: below this, each unit is requested too.
constexpr double kScarceRest = 2;
constexpr double kPartLent = 0.125;        // For a quota without a window: what all books may hold.
constexpr Units kSmallMostHeld = 4;        // For such a quota: below this, each unit is requested.
constexpr Units kPaidBackChunk = 20;       // For a bucket that is nearly empty: how much to take.
constexpr double kLongestUseSeconds = 60;  // The longest time that one grant should cover.
// A grant that would last less than this is not worth it.
constexpr double kRoundTripsOfUse = 8;
constexpr double kGapsOfIdleness = 8;
constexpr Duration kLongestDenial = std::chrono::seconds(30);

Duration FromSeconds(double seconds) {
  constexpr double kLongest = 1e9;
  return std::chrono::duration_cast<Duration>(
      std::chrono::duration<double>(std::clamp(seconds, 0.0, kLongest)));
}

double ShareOfRest(const LeaseView& view) {
  return static_cast<double>(view.remaining) * view.share;
}

}  // namespace

Units MostHeld(const LeaseView& view) {
  return view.is_window
             ? 0
             : static_cast<Units>(kPartLent * static_cast<double>(view.limit) * view.share);
}

bool IsSmall(const LeaseView& view) {
  return view.is_window ? static_cast<double>(view.limit) * view.share < kSmallShare
                        : MostHeld(view) < kSmallMostHeld;
}

Units GrantOf(const LeaseView& view) {
  const bool is_scarce = view.is_window ? ShareOfRest(view) < kScarceRest
                                        : static_cast<double>(view.remaining) < kScarceRest;
  if (IsSmall(view) || is_scarce || view.usable_s < kRoundTripsOfUse * view.round_trip_s) {
    return 0;
  }
  const double expected = view.rate * std::min(view.usable_s, kLongestUseSeconds);
  double grant = std::min(expected + std::sqrt(expected), 2.0 * static_cast<double>(view.seen));
  if (view.is_window) {
    grant = std::min(grant, kPartOfRest * ShareOfRest(view));
    grant = std::max(grant, std::floor(kLeastPart * static_cast<double>(view.limit) * view.share));
  } else {
    grant = std::min(grant, kPartOfRest * static_cast<double>(view.remaining));
    if (view.remaining < MostHeld(view)) {
      grant = std::min(grant, static_cast<double>(kPaidBackChunk));
    }
  }
  Units units = static_cast<Units>(std::min(grant, static_cast<double>(view.remaining)));
  if (!view.is_window) {
    units = std::min(units, MostHeld(view));
  }
  units -= view.held;
  // A single unit can as well be requested from the store.
  return units < 2 ? 0 : std::min(units, view.remaining);
}

Units RefillPoint(double rate, double round_trip_s) {
  const double meanwhile = 2 * round_trip_s * rate;
  return static_cast<Units>(
      std::min(meanwhile + 2 * std::sqrt(meanwhile), static_cast<double>(kMaxUnits)));
}

Duration IdleTime(const LeaseView& view) {
  constexpr double kShortestSeconds = 0.01;
  const double longest = std::min(view.span_s / 4, kLongestUseSeconds);
  const double demand = view.rate / std::max(view.share, 1e-6) * view.usable_s;
  const bool is_short = static_cast<double>(view.remaining) < 1.5 * demand;
  if (!is_short || view.rate <= 0) {
    return FromSeconds(longest);
  }
  return FromSeconds(std::min(
      longest, std::max({kShortestSeconds, 10 * view.round_trip_s, kGapsOfIdleness / view.rate})));
}

Duration DenialTime(const LeaseView& view, Duration retry_after, double jitter) {
  if (IsSmall(view)) {
    return Duration(0);
  }
  const Duration least = FromSeconds(view.span_s / 32);
  if (view.is_window) {
    const Duration some = FromSeconds(view.usable_s / 4 * jitter);
    return std::min({std::max(some, least), retry_after, kLongestDenial});
  }
  // Until a chunk is refilled; a nearly empty bucket does not overflow meanwhile.
  if (view.refill <= 0) {
    return std::min({retry_after, least, kLongestDenial});
  }
  const double chunk = static_cast<double>(std::min(kPaidBackChunk, MostHeld(view)));
  const double until_chunk = chunk / (view.refill * std::max(view.share, 1e-6));
  const Duration some = FromSeconds(std::min(until_chunk, view.span_s / 8));
  return std::min(std::max(some, retry_after), kLongestDenial);
}

Duration UsableTime(Duration until_end) {
  // The resolution of Redis's counters.
  constexpr Duration kRounding = std::chrono::microseconds(1);
  return until_end - until_end / 1024 - kRounding;
}

}  // namespace sluice::lease
