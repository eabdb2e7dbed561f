#pragma once

#include <compare>
#include <cstdint>
#include <limits>

#include "sluice/time.h"

namespace sluice {

// A count of whole quota units: requests, bytes, tokens. 0 to kMaxUnits wherever a
// user may write one; internal sums may pass it and stay exact.
using Units = std::int64_t;

// Fifteen digits: the largest integer that an HTTP structured field can carry (RFC 9651).
inline constexpr Units kMaxUnits = 999'999'999'999'999;

// What `Decision::limit` and `remaining` hold where a rule says `unlimited`.
inline constexpr Units kUnlimited = std::numeric_limits<Units>::max();

// What one request takes from a quota. Never negative.
struct Cost {
  Units units = 1;

  auto operator<=>(const Cost&) const = default;
};

// Why a decision is no plain "yes". Closed: reason.h holds the one table from here to
// HTTP status, problem type, gRPC code and text.
enum class Reason : std::uint8_t {
  kNone,                 // Allowed.
  kQuotaExceeded,        // Used up for now; retry_after says until when.
  kCostExceedsCapacity,  // The cost is above the limit or burst: it can never pass.
  kLimitZero,            // Limit, rate or burst is 0: nothing passes.
  kInFlight,             // All concurrency slots are held; the wait is unknown.
  kReserved,             // The slots that are left are reserved for another priority.
  kAttributeMissing,     // A key attribute is absent and the rule says on_missing: deny.
  kBanned,               // Refused outright after too many denials.
  kStoreFull,            // No room to remember this key, and table.when_full is deny.
  kStoreUnavailable,     // The store did not answer, and on_store_error is deny.
  kDenyListed,           // A rule with action: deny applies.
};

// The answer to one check: one rule, one key, one cost. A denial is an answer, not an
// error. A plain value: safe to copy and share.
struct Decision {
  // retry_after of what can never pass, and of what passes at an unknown time. Longest
  // wait first is never, then unknown, then numbers: so they compare.
  static constexpr Duration kNever = Duration::max();
  static constexpr Duration kUnknown = Duration::max() - Duration(1);

  bool allowed = false;
  Reason reason = Reason::kNone;
  bool shadow = false;     // Decided and counted, not enforced.
  bool degraded = false;   // Made without the state that it should have been made from.
  Units limit = 0;         // The most that a fresh key grants; kUnlimited without a limit.
  Units remaining = 0;     // Units that would be granted right now; never below 0.
  Duration retry_after{};  // For this cost: exact; 0 when allowed; kNever; kUnknown.
  Duration reset_after{};  // Until the key is as good as fresh.
  Duration wait{};         // Allowed, but to be let through only after this (shaping).

  bool operator==(const Decision&) const = default;
};

}  // namespace sluice
