#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

namespace sluice::envoy {

// Remembers which counters are over their limit, so that the store need not be asked about them
// until their window ends. Of fixed size; a new one may push an old one out, which then costs a
// call and nothing else. Safe from any thread.
//
// A counter's name here has the start of its window in it, so that nothing has to be taken out. It
// is kept as 64 bits of a hash with a secret seed: two names of one hash come about once in 2^58
// asks of a full set, and nobody can make them.
class OverLimitCache {
 public:
  // At least one set of eight. 0 bytes: nothing is ever remembered.
  explicit OverLimitCache(std::size_t bytes);

  [[nodiscard]] bool enabled() const { return set_count_ != 0; }
  [[nodiscard]] bool Has(std::string_view counter, std::int64_t window_start_s) const;
  void Remember(std::string_view counter, std::int64_t window_start_s);

 private:
  struct alignas(64) Set {
    std::array<std::atomic<std::uint64_t>, 8> hashes{};
  };

  [[nodiscard]] std::uint64_t HashOf(std::string_view counter, std::int64_t window_start_s) const;

  std::uint64_t seed_;
  std::size_t set_count_ = 0;
  std::unique_ptr<Set[]> sets_;  // NOLINT(modernize-avoid-c-arrays): its size is known at run time.
};

}  // namespace sluice::envoy
