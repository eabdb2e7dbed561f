#pragma once

#include <cstddef>
#include <cstdint>

namespace sluice::replay {

// The place, from 0 on, of a percentile among `count` values in rising order: that of the least
// value P such that at least `share_ppm` millionths of the values are at or below P. Requires
// count > 0 and share_ppm from 0 to 1,000,000.
[[nodiscard]] constexpr std::size_t PercentilePlace(std::uint64_t share_ppm, std::size_t count) {
  const std::uint64_t at_or_below = ((share_ppm * count) + 999'999) / 1'000'000;
  return at_or_below == 0 ? 0 : static_cast<std::size_t>(at_or_below - 1);
}

}  // namespace sluice::replay
