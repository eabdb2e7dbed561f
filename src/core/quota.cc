#include "core/quota.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "core/calendar.h"
#include "core/wide.h"

namespace sluice::core {

namespace {

constexpr std::array<std::string_view, 3> kSyncNames{"exact", "lease", "local"};

using Fault = std::optional<std::string>;

Fault FaultOfUnits(std::string_view field, Units units) {
  if (units < 0) {
    return std::string(field) + " " + std::to_string(units) +
           " is negative: 0 denies everything, `unlimited` lets everything pass";
  }
  if (units > kMaxUnits) {
    return std::string(field) + " " + std::to_string(units) + " is above " +
           std::to_string(kMaxUnits) + ", the largest number that every store keeps exact";
  }
  return std::nullopt;
}

Fault FaultOfWindow(std::string_view field, Duration window, Duration unit) {
  if (window <= Duration::zero()) {
    return std::string(field) + " is missing or not positive: give one, such as 250ms, 1m or 30d";
  }
  if (window % unit != Duration::zero()) {
    return std::string(field) + " is not a whole number of " +
           (unit == std::chrono::seconds(1) ? "seconds" : "milliseconds") + ": round it";
  }
  if (window > kLongestHorizon) {
    return std::string(field) + " is longer than 36500d: use at most that";
  }
  return std::nullopt;
}

// A bucket whose refill takes longer than a century is a typing error, and would outgrow
// the widths that keep debts exact.
Fault FaultOfRefill(const Quota& quota) {
  if (quota.rate == 0 || quota.limit == 0) {
    return std::nullopt;
  }
  const U128 cap = Multiply(static_cast<std::uint64_t>(quota.limit),
                            static_cast<std::uint64_t>(quota.window.count()));
  const U128 most = Multiply(static_cast<std::uint64_t>(quota.rate),
                             static_cast<std::uint64_t>(kLongestHorizon.count()));
  if (cap > most) {
    return "burst " + std::to_string(quota.limit) + " would take more than 36500d to refill at " +
           std::to_string(quota.rate) + " per window: lower the burst or raise the rate";
  }
  return std::nullopt;
}

// `word`: what a rule calls the field, which the quota's algorithm does not have.
Fault Foreign(std::string_view word, QuotaField field, std::string_view remedy) {
  return std::string(word) + " belongs to " + OwnersOf(field) + " only: " + std::string(remedy);
}

}  // namespace

std::string_view NameOf(Sync sync) {
  return kSyncNames[static_cast<std::size_t>(sync)];
}

std::optional<Algorithm> AlgorithmNamed(std::string_view name) {
  for (const Algorithm algorithm : kRuleAlgorithms) {
    if (NameOf(algorithm) == name) {
      return algorithm;
    }
  }
  return std::nullopt;
}

std::string OwnersOf(QuotaField field) {
  std::string owners;
  std::string_view last;
  for (const Algorithm algorithm : kRuleAlgorithms) {
    if (TraitsOf(algorithm).fields.Has(field)) {
      owners += last.empty() ? "" : std::string(owners.empty() ? "" : ", ") + std::string(last);
      last = NameOf(algorithm);
    }
  }
  return owners.empty() ? std::string(last) : owners + " and " + std::string(last);
}

Duration RefillTime(const Quota& quota) {
  if (quota.rate <= 0) {
    return kLongestHorizon;
  }
  const U128 cap = Multiply(static_cast<std::uint64_t>(quota.limit),
                            static_cast<std::uint64_t>(quota.window.count()));
  const U128 most = Multiply(static_cast<std::uint64_t>(quota.rate),
                             static_cast<std::uint64_t>(kLongestHorizon.count()));
  return cap >= most ? kLongestHorizon
                     : Duration(static_cast<std::int64_t>(
                           FloorDivide(cap, static_cast<std::uint64_t>(quota.rate))));
}

Duration CountsFor(const Quota& quota, WallInstant charged) {
  switch (TraitsOf(quota.algorithm).refill) {
    case Refill::kAtRate:
      return RefillTime(quota);
    case Refill::kAtWindowEnd:
      return quota.calendar != nullptr
                 ? quota.calendar->At(charged).end - charged
                 : quota.window - Duration(PastMultiple(charged.time_since_epoch().count(),
                                                        quota.window.count()));
    case Refill::kSliding:
    case Refill::kOnRelease:
      break;
  }
  return quota.window;
}

Duration LongestCount(const Quota& quota) {
  constexpr Duration kLongestPeriod = std::chrono::hours(24 * 366);
  if (IsBucket(quota.algorithm)) {
    return quota.unlimited || quota.rate <= 0 ? Duration{} : RefillTime(quota);
  }
  return quota.calendar != nullptr ? kLongestPeriod : quota.window;
}

std::optional<std::string> FaultOf(const Quota& quota) {
  using enum QuotaField;
  const AlgorithmTraits& traits = TraitsOf(quota.algorithm);
  const QuotaFields& has = traits.fields;
  if (quota.calendar != nullptr && !has.Has(kCalendar)) {
    return Foreign("a calendar word", kCalendar, "give a length such as 30d");
  }
  if (quota.strict && !has.Has(kStrict)) {
    return Foreign("strict", kStrict, "leave it out");
  }
  if (quota.shape && !has.Has(kShape)) {
    return Foreign("shape", kShape, "leave it out");
  }
  if (quota.unlimited) {
    return std::nullopt;
  }
  if (has.Has(kRate)) {
    if (Fault fault = FaultOfUnits("rate", quota.rate)) {
      return fault;
    }
  }
  if (Fault fault = FaultOfUnits(has.Has(kBurst) ? "burst" : "limit", quota.limit)) {
    return fault;
  }
  if (has.Has(kSegments) && (quota.segments < 1 || quota.segments > kMaxSegments)) {
    return "segments " + std::to_string(quota.segments) + " is not within 1 to " +
           std::to_string(kMaxSegments);
  }
  if (quota.calendar != nullptr) {
    return std::nullopt;
  }
  const std::string_view window = has.Has(kHoldTtl) ? "hold_ttl" : "window";
  if (Fault fault = FaultOfWindow(window, quota.window, traits.window_unit)) {
    return fault;
  }
  return has.Has(kRate) ? FaultOfRefill(quota) : std::nullopt;
}

std::optional<std::string> FaultOf(Sync sync, const Quota& quota) {
  if (sync != Sync::kLease || quota.unlimited || CanBeLent(quota)) {
    return std::nullopt;
  }
  const std::string_view why = TraitsOf(quota.algorithm).why_not_lent;
  return "sync: lease " + std::string(!why.empty() ? why
                                                   : "cannot be combined with shape: true, which "
                                                     "is one queue for all nodes: write "
                                                     "sync: exact");
}

}  // namespace sluice::core
