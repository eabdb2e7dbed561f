#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "telemetry/counter.h"
#include "telemetry/registry.h"

namespace sluice::lease {

// How checks were decided, and what was borrowed for them.
enum class LeaseCount : std::uint8_t {
  kAllowedHere,  // Checks decided without the shared store: by what is held,
  kDeniedHere,   // or by a remembered denial.
  kBorrowedUnits,
  kGivenBackUnits,
  kLapsedUnits,    // Held until they expired.
  kBorrows,        // Calls,
  kFailedBorrows,  // and those without a grant: denied, not answered, too late.
  kUnknownKeys,    // Checks of keys for which the book has no room; the shared store decided them.
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
  void AddKeys(int by) noexcept { keys_.fetch_add(by, std::memory_order_relaxed); }
  [[nodiscard]] int keys() const noexcept { return keys_.load(std::memory_order_relaxed); }
  [[nodiscard]] int held() const noexcept { return held_.load(std::memory_order_relaxed); }

  void Write(telemetry::Exposition& out) const override;

 private:
  telemetry::CounterGroup counts_;
  std::atomic<int> keys_{0};  // Entries of all books.
  std::atomic<int> held_{0};  // Grants with units left.
};

}  // namespace sluice::lease
