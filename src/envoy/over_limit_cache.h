#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "sluice/time.h"

namespace sluice::envoy {

// Remembers which counters are over their limit, so that the store is not asked about them until
// their window ends. Its size is fixed: a new counter may replace an old one, which then costs a
// call of the store. Safe from any thread.
//
// A counter's name includes its window here, so that nothing is removed when a window ends. Names
// are kept as 64 bits of a hash with a secret seed: a full set gives a wrong answer once in 2^58
// look-ups, and clients cannot construct two names of the same hash.
class OverLimitCache {
 public:
  struct Window {
    std::int64_t start_s = 0;
    std::int64_t length_s = 1;
  };

  // At least one set of eight. 0 bytes: nothing is ever remembered.
  explicit OverLimitCache(std::size_t bytes);

  [[nodiscard]] bool enabled() const { return set_count_ != 0; }
  [[nodiscard]] bool Has(std::string_view counter, const Window& window) const;
  void Remember(std::string_view counter, const Window& window);
  void Forget(std::string_view counter, const Window& window);

  // The window of that length that is open at that second.
  [[nodiscard]] static Window WindowAt(std::int64_t now_s, Duration length);

 private:
  struct alignas(64) Set {
    std::array<std::atomic<std::uint64_t>, 8> hashes{};
  };

  [[nodiscard]] std::uint64_t HashOf(std::string_view counter, const Window& window) const;

  std::uint64_t seed_;
  std::size_t set_count_ = 0;
  std::unique_ptr<Set[]> sets_;  // NOLINT(modernize-avoid-c-arrays): its size is known at run time.
};

}  // namespace sluice::envoy
