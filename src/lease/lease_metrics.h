#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "telemetry/counter.h"
#include "telemetry/registry.h"

namespace sluice::lease {

// What came of deciding by borrowed units.
enum class LeaseCount : std::uint8_t {
  kAllowedHere,  // Checks decided without the shared store: by what is held,
  kDeniedHere,   // or by a denial that is taken to hold.
  kBorrowedUnits,
  kGivenBackUnits,
  kLapsedUnits,    // Held until they were void.
  kBorrows,        // Calls,
  kFailedBorrows,  // and those that brought nothing: denied, not answered, too late.
  kUnknownKeys,    // Checks of keys for which the book has no room: asked exactly.
};
inline constexpr std::size_t kLeaseCounts = 8;
static_assert(kLeaseCounts <= telemetry::CounterGroup::kWidth);

// Shared by all loops of a store. Any thread.
class LeaseMetrics final : public telemetry::Source {
 public:
  void Count(LeaseCount what, std::uint64_t n = 1) noexcept {
    counts_.Add(static_cast<std::size_t>(what), n);
  }
  [[nodiscard]] std::uint64_t Read(LeaseCount what) const noexcept {
    return counts_.Read(static_cast<std::size_t>(what));
  }
  void AddHeld(int by) noexcept { held_.fetch_add(by, std::memory_order_relaxed); }
  [[nodiscard]] int held() const noexcept { return held_.load(std::memory_order_relaxed); }

  void Write(telemetry::Exposition& out) const override;

 private:
  telemetry::CounterGroup counts_;
  std::atomic<int> held_{0};  // Grants of which something is left.
};

}  // namespace sluice::lease
