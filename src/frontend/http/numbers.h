#pragma once

#include <cstdint>
#include <optional>

#include "sluice/decision.h"
#include "sluice/time.h"

#include "service/rounding.h"

namespace sluice::frontend::http {

using service::CeilDivide;
using service::CeilMilliseconds;
using service::CeilOf;
using service::CeilSeconds;
using service::Int128;
using service::IsKnown;

// Unix seconds, rounded up, at which the key is fresh again, by the store's wall clock
// `now`. None where there is nothing to reset (unlimited) or it never happens.
//
// A millisecond is taken off before rounding up. A reading's two clocks are read one after
// the other, so `now + reset_after` trembles by what lies between; many windows end on whole
// seconds, and there the tremble would show as two answers for one window.
[[nodiscard]] inline std::optional<std::int64_t> ResetAt(WallInstant now,
                                                         const Decision& decision) {
  if (decision.limit == kUnlimited || !IsKnown(decision.reset_after)) {
    return std::nullopt;
  }
  constexpr Int128 kTremble = 1'000'000;
  constexpr Int128 kSecond = 1'000'000'000;
  const Int128 at =
      static_cast<Int128>(now.time_since_epoch().count()) + decision.reset_after.count() - kTremble;
  return static_cast<std::int64_t>(CeilDivide(at, kSecond));
}

}  // namespace sluice::frontend::http
