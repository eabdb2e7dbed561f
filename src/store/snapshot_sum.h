#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include <xxhash.h>

namespace sluice::store {

// XXH3-128 over bytes that come piece by piece.
class SnapshotSum {
 public:
  SnapshotSum() : state_(XXH3_createState()) { XXH3_128bits_reset(state_.get()); }

  void Add(std::span<const std::byte> bytes) {
    XXH3_128bits_update(state_.get(), bytes.data(), bytes.size());
  }
  [[nodiscard]] std::array<std::uint64_t, 2> Value() const {
    const XXH128_hash_t hash = XXH3_128bits_digest(state_.get());
    return {hash.low64, hash.high64};
  }

 private:
  struct Free {
    void operator()(XXH3_state_t* state) const { XXH3_freeState(state); }
  };
  std::unique_ptr<XXH3_state_t, Free> state_;
};

}  // namespace sluice::store
