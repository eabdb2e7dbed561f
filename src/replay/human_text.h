#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "sluice/decision.h"
#include "sluice/time.h"

#include "core/quota.h"

// Numbers as people read them. Pure.
namespace sluice::replay {

[[nodiscard]] std::string Grouped(std::uint64_t number);  // 1,234,567
[[nodiscard]] std::string Grouped(Units units);
// "12.5 %"; "0 %" only for nothing at all, "< 0.01 %" for what is nearly nothing.
[[nodiscard]] std::string Percent(std::uint64_t part, std::uint64_t whole);
// "1m", "15m", "250ms": as in rule files.
[[nodiscard]] std::string WindowText(Duration window);
// "1 m 26 s", "29.6 days".
[[nodiscard]] std::string SpanText(Duration span);
// "2025-12-17 09:03:01", in UTC.
[[nodiscard]] std::string InstantText(WallInstant at);
// "90 % up to", "the highest" of 1,000,000 millionths: what stands before a percentile of keys.
[[nodiscard]] std::string ShareOfKeys(std::uint64_t share_ppm);
inline constexpr std::string_view kSpreadText =
    "Timestamps are whole seconds, and a rule looks back for less than 30 s: the requests of a "
    "second are spread over it (--no-spread judges them as they are stamped).";
// "60 per 1m", "100 per 1m, burst 150".
[[nodiscard]] std::string QuotaText(const core::Quota& quota);

}  // namespace sluice::replay
