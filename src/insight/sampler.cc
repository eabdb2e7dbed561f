#include "insight/sampler.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace sluice::insight {

void Sampler::Draw(unsigned shift) noexcept {
  drawn_for_ = setting_.load(std::memory_order_relaxed);
  const auto step = static_cast<std::uint32_t>(drawn_for_);
  weight_ =
      static_cast<std::uint32_t>(std::min<std::uint64_t>(std::uint64_t{step} << shift, kMostStep));
  left_ = 1;
  if (weight_ > 1) {
    // A geometric distribution has no memory. So it may be drawn anew at any time, also when the
    // step changes between two picks.
    const double fraction = 1 - random_.Fraction();  // Above 0, at most 1.
    left_ += static_cast<std::uint64_t>(std::log(fraction) / std::log1p(-1.0 / weight_));
  }
}

std::uint32_t NextStep(std::uint32_t step, std::uint64_t seen, std::uint64_t target) {
  const std::uint64_t needed =
      std::bit_ceil(std::clamp<std::uint64_t>((seen + target - 1) / target, 1, Sampler::kMostStep));
  if (needed > step || needed * 4 <= step) {
    return static_cast<std::uint32_t>(needed);
  }
  return step;
}

}  // namespace sluice::insight
