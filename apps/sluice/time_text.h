#pragma once

#include <cstdint>
#include <string>

// Times as people read them. Pure.
namespace sluice::app {

// "250 ms", "12.3 s", "2 min 14 s", "3 h 5 min", "12 d 4 h": rounded up. What is over is "0 ms".
[[nodiscard]] std::string WaitText(std::int64_t milliseconds);

// Unix milliseconds as "14:03:12.512 UTC"; with the date before it if that is not the day of
// `now`, also in Unix milliseconds.
[[nodiscard]] std::string ClockText(std::int64_t at, std::int64_t now);

// "in 12.3 s", or "12.3 s ago".
[[nodiscard]] std::string DistanceText(std::int64_t at, std::int64_t now);

}  // namespace sluice::app
