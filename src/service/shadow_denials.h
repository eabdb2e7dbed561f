#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/key.h"

namespace sluice::service {

// The keys that shadow rules would have denied most often, in fixed memory.
//
// Keys fall into sets of kWays. If a set is full, a new key replaces the one with the fewest
// denials and takes over its count (Metwally, Agrawal, El Abbadi: space-saving, 2005). So a count
// is never too low, and too high by `overcount` at most. A key that is denied often stays, even if
// many others pass by.
//
// Any thread counts. Nothing is allocated and no thread waits: if two meet in one set, the later
// denial is counted as missed.
class ShadowDenials {
 public:
  static constexpr std::size_t kSets = 128;
  static constexpr std::size_t kWays = 8;
  static constexpr std::size_t kTextBytes = 160;  // Of a key as it is shown; longer is cut.

  ShadowDenials();

  // Rule `rule` would have denied the key of `parts`. `newly`: no rule in force did.
  void Count(std::string_view rule, std::span<const core::KeyPart> parts, bool newly) noexcept;

  struct Key {
    std::string rule;
    std::string text;  // "user_id=u_42"; several attributes with ", " between.
    std::uint64_t denied = 0;
    std::uint64_t newly_denied = 0;  // Of these, since the key has its entry: never too high.
    std::uint64_t overcount = 0;
  };
  // The most denied first. Of one moment for each set, not for all.
  [[nodiscard]] std::vector<Key> Keys() const;
  [[nodiscard]] std::uint64_t missed() const { return missed_.load(std::memory_order_relaxed); }

 private:
  struct Entry {
    std::uint64_t hash = 0;
    std::uint64_t denied = 0;  // 0: free.
    std::uint64_t newly_denied = 0;
    std::uint64_t overcount = 0;
    std::uint8_t rule_bytes = 0;
    std::uint8_t text_bytes = 0;
    std::array<char, 64> rule{};
    std::array<char, kTextBytes> text{};
  };
  struct Set {
    std::atomic<bool> taken{false};  // Guards the entries.
    std::array<Entry, kWays> entries;
  };

  std::unique_ptr<std::array<Set, kSets>> sets_;
  std::atomic<std::uint64_t> missed_{0};
};

}  // namespace sluice::service
