#include "store/rule_directory.h"

#include <algorithm>

#include <xxhash.h>

namespace sluice::store {

namespace {

constexpr std::size_t kFull = kRulePlaces;

// The place that holds `id`, or the first free one on its path; kFull if there is neither.
std::size_t PlaceOf(std::span<const RulePlace> places, std::string_view id) {
  const std::size_t home = XXH3_64bits(id.data(), id.size()) % places.size();
  for (std::size_t i = 0; i < std::min(places.size(), kRuleProbes); ++i) {
    const std::size_t at = (home + i) % places.size();
    // Pairs with the release in NumberOf, like the other acquires here: a thread that sees the size
    // sees the id.
    const std::uint32_t size = places[at].size.load(std::memory_order_acquire);
    if (size == 0 || std::string_view(places[at].id.data(), size) == id) {
      return at;
    }
  }
  return kFull;
}

}  // namespace

std::uint16_t RuleDirectory::NumberOf(std::string_view id) {
  if (id.empty() || id.size() > kRuleIdBytes) {
    return 0;
  }
  std::size_t at = PlaceOf(places_, id);
  if (at == kFull) {
    return 0;
  }
  if (places_[at].size.load(std::memory_order_acquire) == 0) {
    const std::scoped_lock lock(adding_);
    at = PlaceOf(places_, id);  // Another thread may have added it, or taken the place.
    if (at == kFull) {
      return 0;
    }
    RulePlace& place = places_[at];
    if (place.size.load(std::memory_order_relaxed) == 0) {
      std::ranges::copy(id, place.id.begin());
      // Pairs with the acquires above and in IdOf.
      place.size.store(static_cast<std::uint32_t>(id.size()), std::memory_order_release);
    }
  }
  return static_cast<std::uint16_t>(at + 1);
}

std::string_view RuleDirectory::IdOf(std::uint16_t number) const {
  if (number == 0 || number > places_.size()) {
    return {};
  }
  const RulePlace& place = places_[number - 1];
  return {place.id.data(), place.size.load(std::memory_order_acquire)};
}

}  // namespace sluice::store
