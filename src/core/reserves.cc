#include "core/reserves.h"

#include <algorithm>
#include <utility>

namespace sluice::core {

namespace {

// FNV-1a, folded to a tag that is not 0.
PriorityTag HashOf(std::string_view priority) {
  std::uint32_t hash = 2166136261U;
  for (const char c : priority) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 16777619U;
  }
  return static_cast<PriorityTag>(hash % kLastPriorityTag + 1);
}

}  // namespace

bool Reserves::IsTaken(PriorityTag tag) const {
  return std::ranges::find(shares_, tag, &Reserve::tag) != shares_.end();
}

void Reserves::Add(std::string priority, int percent) {
  PriorityTag tag = HashOf(priority);
  while (IsTaken(tag)) {
    tag = static_cast<PriorityTag>(tag % kLastPriorityTag + 1);
  }
  shares_.push_back({.priority = std::move(priority), .percent = percent, .tag = tag});
}

PriorityTag Reserves::TagOf(std::string_view priority) const {
  const auto found = std::ranges::find(shares_, priority, &Reserve::priority);
  return found == shares_.end() ? PriorityTag{0} : found->tag;
}

Units Reserves::KeptFree(Units limit, PriorityTag asking, InFlight in_flight) const {
  Units kept = 0;
  for (std::size_t i = 0; i < shares_.size(); ++i) {
    if (shares_[i].tag != asking) {
      kept += std::max<Units>(shares_[i].Slots(limit) - in_flight[i], 0);
    }
  }
  return kept;
}

Units Reserves::OthersShares(Units limit, PriorityTag asking) const {
  Units others = 0;
  for (const Reserve& share : shares_) {
    others += share.tag == asking ? 0 : share.Slots(limit);
  }
  return others;
}

}  // namespace sluice::core
