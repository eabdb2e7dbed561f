#pragma once

#include <cstdint>
#include <string_view>

#include "sluice/time.h"

#include "core/calendar.h"
#include "core/quota.h"

namespace sluice::core {

// What must stay the same for a key's state to mean the same. A quota of another shape starts
// fresh: what a key used is kept under rule, shape and attributes. The numbers are no part of it.
// Which fields are is in kAlgorithms.
struct Shape {
  Algorithm algorithm{};
  std::uint8_t segments = 0;    // 0 if it has none.
  Duration window{};            // 0 if it has none, or a calendar instead.
  std::string_view calendar{};  // Calendar::shape(). Lives as long as the calendar.

  [[nodiscard]] bool has_window() const {
    return calendar.empty() && Is<&AlgorithmTraits::has_window_in_shape>(algorithm);
  }
  bool operator==(const Shape&) const = default;
};

// Allocates nothing.
[[nodiscard]] inline Shape ShapeOf(const Quota& quota) {
  Shape shape{.algorithm = quota.algorithm};
  if (quota.calendar != nullptr && TraitsOf(quota.algorithm).shape.Has(QuotaField::kCalendar)) {
    shape.calendar = quota.calendar->shape();
  } else if (Is<&AlgorithmTraits::has_window_in_shape>(quota.algorithm)) {
    shape.window = quota.window;
  }
  if (Is<&AlgorithmTraits::has_segments>(quota.algorithm)) {
    shape.segments = quota.segments;
  }
  return shape;
}

// A number that tells shapes apart: for comparing, not for secrets. FNV-1a. The receipts of charges
// have it, so it stays as it is.
[[nodiscard]] inline std::uint64_t ShapeDigest(const Quota& quota) {
  std::uint64_t digest = 0xcbf29ce484222325ULL;
  const auto take = [&digest](std::uint64_t number) {
    for (unsigned shift = 0; shift < 64; shift += 8) {
      digest = (digest ^ ((number >> shift) & 255U)) * 0x100000001b3ULL;
    }
  };
  const Shape shape = ShapeOf(quota);
  take(static_cast<std::uint64_t>(shape.algorithm));
  take(shape.segments);
  if (!shape.calendar.empty()) {
    for (const char c : shape.calendar) {
      take(static_cast<unsigned char>(c));
    }
  } else if (shape.has_window()) {
    take(static_cast<std::uint64_t>(shape.window.count()));
  }
  return digest;
}

}  // namespace sluice::core
