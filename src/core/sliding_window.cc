#include "core/sliding_window.h"

#include "core/wide.h"

namespace sluice::core {

namespace {

std::uint64_t WindowOf(const Quota& quota) {
  return static_cast<std::uint64_t>(quota.window.count());
}

}  // namespace

SegmentPlace PlaceOf(const Quota& quota, std::uint64_t offset) {
  const Quotient q = DivideFitting(Multiply(offset, quota.segments), WindowOf(quota));
  return {.number = static_cast<std::int64_t>(q.value), .into = q.rest};
}

std::int64_t OffsetOf(const Quota& quota, std::int64_t number, std::uint64_t into) {
  const U128 place = Multiply(static_cast<std::uint64_t>(number), WindowOf(quota)) + into;
  return AsWait(CeilDivide(place, quota.segments));
}

Units WeightOf(const Quota& quota, Units units, std::uint64_t into) {
  if (quota.strict || units == 0) {
    return units;
  }
  const std::uint64_t window = WindowOf(quota);
  return static_cast<Units>(
      DivideFitting(Multiply(static_cast<std::uint64_t>(units), window - into), window).value);
}

std::uint64_t IntoUntilWithin(const Quota& quota, Units units, Units spare) {
  const std::uint64_t window = WindowOf(quota);
  if (quota.strict) {
    return window;
  }
  // units * (W - into) < (spare + 1) * W.
  const U128 product = Multiply(static_cast<std::uint64_t>(spare) + 1, window);
  return window - (CeilDivide(product, static_cast<std::uint64_t>(units)) - 1);
}

}  // namespace sluice::core
