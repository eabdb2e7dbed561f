#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <string_view>

namespace sluice::store {

inline constexpr std::size_t kRulePlaces = 4096;
inline constexpr std::size_t kRuleIdBytes = 64;
inline constexpr std::size_t kRuleProbes = 64;

struct RulePlace {
  std::atomic<std::uint32_t> size{0};  // Of the id; 0: free. Stored last.
  std::array<char, kRuleIdBytes> id{};
};
static_assert(sizeof(RulePlace) == 68);

// Gives each rule id a number that fits into a slot, and keeps both in the mapping, so that a tool
// can say which rule a slot belongs to. No decision depends on it: a key's fingerprint contains the
// rule's id. Safe from any thread; reading takes no lock.
class RuleDirectory {
 public:
  explicit RuleDirectory(std::span<RulePlace> places) : places_(places) {}

  // The id's number, given out now if it has none; 0 if there is no place left for it (looked
  // for in kRuleProbes places, so that a full directory does not slow every insert) or the id is
  // longer than kRuleIdBytes.
  [[nodiscard]] std::uint16_t NumberOf(std::string_view id);
  [[nodiscard]] std::string_view IdOf(std::uint16_t number) const;
  [[nodiscard]] std::span<const RulePlace> places() const { return places_; }

 private:
  std::span<RulePlace> places_;
  std::mutex adding_;
};

}  // namespace sluice::store
