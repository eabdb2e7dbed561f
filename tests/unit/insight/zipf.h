#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/random.h"

namespace sluice::insight {

// Draws 0 to `keys` - 1, of which i comes with a chance in proportion to 1 / (i + 1)^`exponent`.
class Zipf {
 public:
  Zipf(std::size_t keys, double exponent, std::uint64_t seed) : random_(seed) {
    double sum = 0;
    for (std::size_t i = 0; i < keys; ++i) {
      sum += std::pow(static_cast<double>(i + 1), -exponent);
      sums_.push_back(sum);
    }
  }
  [[nodiscard]] std::size_t Next() {
    const double at = random_.Fraction() * sums_.back();
    return static_cast<std::size_t>(std::ranges::upper_bound(sums_, at) - sums_.begin());
  }

 private:
  base::Random random_;
  std::vector<double> sums_;
};

}  // namespace sluice::insight
