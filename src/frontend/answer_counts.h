#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "telemetry/registry.h"

namespace sluice::frontend {

// The answers of one listener on one loop, by HTTP status. Count() is of that loop's thread; Read()
// of any.
class LoopAnswers {
 public:
  static constexpr int kFirst = 200;
  static constexpr int kEnd = 600;

  // Requires kFirst <= status < kEnd.
  void Count(int status) noexcept {
    // One writer: no instruction that locks the bus is needed.
    auto& cell = cells_[static_cast<std::size_t>(status - kFirst)];
    cell.store(cell.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
  [[nodiscard]] std::uint64_t Read(int status) const noexcept {
    return cells_[static_cast<std::size_t>(status - kFirst)].load(std::memory_order_relaxed);
  }

 private:
  std::array<std::atomic<std::uint64_t>, kEnd - kFirst> cells_{};
};

// sluice_http_requests_total{listener,status}: what each listener answered, whatever the path. The
// labels are bounded: listeners are configured, and statuses are those that this code answers with.
class AnswerCounts final : public telemetry::Source {
 public:
  // The counts of one more loop of `listener`, an address. Before the loops start; good until the
  // end of this.
  LoopAnswers& Add(std::string_view listener);

  void Write(telemetry::Exposition& out) const override;

 private:
  struct Listener {
    std::string name;
    std::vector<std::unique_ptr<LoopAnswers>> loops;
  };
  std::vector<Listener> listeners_;
};

}  // namespace sluice::frontend
