#include "core/quota.h"

#include <array>
#include <cstddef>

#include "core/calendar.h"
#include "core/wide.h"

namespace sluice::core {

namespace {

// In the order of the enum.
constexpr std::array<std::string_view, kAlgorithmCount + 2> kNames{
    "fixed_window",   "sliding_window_log", "sliding_window_counter",
    "sliding_window", "token_bucket",       "gcra",
    "leaky_bucket",   "concurrency",        "throttle",
    "tally"};

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

Fault FaultOfWindow(std::string_view field, Duration window) {
  constexpr Duration kLeast = std::chrono::milliseconds(1);
  if (window <= Duration::zero()) {
    return std::string(field) + " is missing or not positive: give one, such as 250ms, 1m or 30d";
  }
  if (window % kLeast != Duration::zero()) {
    return std::string(field) + " is not a whole number of milliseconds: round it";
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

Fault FaultOfBucket(const Quota& quota) {
  if (Fault fault = FaultOfUnits("rate", quota.rate)) {
    return fault;
  }
  if (Fault fault = FaultOfUnits("burst", quota.limit)) {
    return fault;
  }
  if (Fault fault = FaultOfWindow("window", quota.window)) {
    return fault;
  }
  if (quota.algorithm == Algorithm::kThrottle &&
      quota.window % std::chrono::seconds(1) != Duration{}) {
    return "window is not a whole number of seconds: round it";
  }
  return FaultOfRefill(quota);
}

Fault FaultOfConcurrency(const Quota& quota) {
  if (Fault fault = FaultOfUnits("limit", quota.limit)) {
    return fault;
  }
  return FaultOfWindow("hold_ttl", quota.window);
}

Fault FaultOfWindowed(const Quota& quota) {
  if (Fault fault = FaultOfUnits("limit", quota.limit)) {
    return fault;
  }
  if (quota.algorithm == Algorithm::kSlidingWindow &&
      (quota.segments < 1 || quota.segments > kMaxSegments)) {
    return "segments " + std::to_string(quota.segments) + " is not within 1 to " +
           std::to_string(kMaxSegments);
  }
  if (quota.algorithm == Algorithm::kAttemptWindow &&
      quota.window % std::chrono::seconds(1) != Duration{}) {
    return "window is not a whole number of seconds: round it";
  }
  return quota.calendar != nullptr ? std::nullopt : FaultOfWindow("window", quota.window);
}

}  // namespace

std::string_view NameOf(Algorithm algorithm) {
  return kNames[static_cast<std::size_t>(algorithm)];
}

std::optional<Algorithm> AlgorithmNamed(std::string_view name) {
  for (std::size_t i = 0; i < std::size_t{kAlgorithmCount}; ++i) {
    if (kNames[i] == name) {
      return static_cast<Algorithm>(i);
    }
  }
  return std::nullopt;
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

std::uint64_t ShapeDigest(const Quota& quota) {
  std::uint64_t digest = 0xcbf29ce484222325ULL;  // FNV-1a.
  const auto take = [&digest](std::uint64_t number) {
    for (unsigned shift = 0; shift < 64; shift += 8) {
      digest = (digest ^ ((number >> shift) & 255U)) * 0x100000001b3ULL;
    }
  };
  take(static_cast<std::uint64_t>(quota.algorithm));
  take(quota.algorithm == Algorithm::kSlidingWindow ? std::uint64_t{quota.segments} : 0);
  if (quota.calendar != nullptr) {
    for (const char c : quota.calendar->shape()) {
      take(static_cast<unsigned char>(c));
    }
  } else if (quota.algorithm != Algorithm::kConcurrency) {
    take(static_cast<std::uint64_t>(quota.window.count()));
  }
  return digest;
}

std::optional<std::string> FaultOf(const Quota& quota) {
  const Algorithm algorithm = quota.algorithm;
  if (quota.calendar != nullptr && algorithm != Algorithm::kFixedWindow) {
    return "a calendar word belongs to fixed_window only: give a length such as 30d";
  }
  if (quota.strict && algorithm != Algorithm::kSlidingWindow) {
    return "strict belongs to sliding_window only: leave it out";
  }
  if (quota.shape && algorithm != Algorithm::kLeakyBucket) {
    return "shape belongs to leaky_bucket only: leave it out";
  }
  if (quota.unlimited) {
    return std::nullopt;
  }
  if (IsBucket(algorithm)) {
    return FaultOfBucket(quota);
  }
  return algorithm == Algorithm::kConcurrency ? FaultOfConcurrency(quota) : FaultOfWindowed(quota);
}

}  // namespace sluice::core
