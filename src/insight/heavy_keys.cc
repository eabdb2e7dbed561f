#include "insight/heavy_keys.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <utility>

namespace sluice::insight {

namespace {

std::uint64_t Deviation(double variance) {
  return static_cast<std::uint64_t>(std::ceil(3 * std::sqrt(variance)));
}

}  // namespace

std::uint64_t HeavyKey::AtLeast() const {
  const std::uint64_t sure = count - overcount;
  return sure - std::min(sure - 1, Deviation(variance));
}

std::uint64_t HeavyKey::AtMost() const {
  return count + Deviation(variance);
}

bool HeavyKeys::Add(const Hit& hit, std::size_t room) {
  total_ += hit.weight;
  const double variance = static_cast<double>(hit.weight) * (hit.weight - 1.0);
  const auto hash = static_cast<std::uint32_t>(hit.hash);
  std::size_t i = 0;
  for (auto at = hashes_.begin();; ++at) {
    at = std::find(at, hashes_.end(), hash);
    i = static_cast<std::size_t>(at - hashes_.begin());
    if (at == hashes_.end() || entries_[i].key == hit.key) {
      break;
    }
  }
  bool grown = false;
  if (i == entries_.size()) {
    if (entries_.size() < room) {
      grown = true;
      entries_.emplace_back();
      hashes_.push_back(hash);
      counts_.push_back(floor_);
    } else {
      i = Least();
      floor_ = counts_[i];
      floor_variance_ = entries_[i].variance;
      hashes_[i] = hash;
    }
    entries_[i].key.assign(hit.key);
    entries_[i].overcount = floor_;
    entries_[i].variance = floor_variance_;
    entries_[i].newly_denied = 0;
  }
  HeavyKey& entry = entries_[i];
  counts_[i] += hit.weight;
  entry.count = counts_[i];
  entry.variance += variance;
  entry.newly_denied += hit.newly_denied ? hit.weight : 0;
  entry.last = hit.at;
  return grown;
}

std::size_t HeavyKeys::Least() const {
  return static_cast<std::size_t>(std::ranges::min_element(counts_) - counts_.begin());
}

void HeavyKeys::Erase(std::size_t i) {
  entries_[i] = std::move(entries_.back());
  hashes_[i] = hashes_.back();
  counts_[i] = counts_.back();
  entries_.pop_back();
  hashes_.pop_back();
  counts_.pop_back();
}

void HeavyKeys::Shrink(std::size_t room) {
  while (entries_.size() > room) {
    const std::size_t i = Least();
    floor_ = std::max(floor_, counts_[i]);
    floor_variance_ = entries_[i].variance;
    Erase(i);
  }
}

void HeavyKeys::Clear() {
  *this = HeavyKeys();
}

std::vector<HeavyKey> HeavyKeys::Merge(const HeavyKeys& a, const HeavyKeys& b) {
  std::vector<HeavyKey> merged;
  merged.reserve(a.size() + b.size());
  std::unordered_map<std::string_view, const HeavyKey*> of_b;
  for (const HeavyKey& entry : b.entries_) {
    of_b.emplace(entry.key, &entry);
  }
  // What `from` may have counted of a key that it has no entry for.
  const auto add_floor = [](HeavyKey& entry, const HeavyKeys& from) {
    entry.count += from.floor_;
    entry.overcount += from.floor_;
    entry.variance += from.floor_variance_;
  };
  for (const HeavyKey& entry : a.entries_) {
    HeavyKey& sum = merged.emplace_back(entry);
    if (const auto at = of_b.find(entry.key); at != of_b.end()) {
      const HeavyKey& other = *at->second;
      sum.count += other.count;
      sum.overcount += other.overcount;
      sum.variance += other.variance;
      sum.newly_denied += other.newly_denied;
      sum.last = std::max(sum.last, other.last);
      of_b.erase(at);
    } else {
      add_floor(sum, b);
    }
  }
  for (const auto& [key, entry] : of_b) {
    add_floor(merged.emplace_back(*entry), a);
  }
  std::ranges::sort(merged, [](const HeavyKey& x, const HeavyKey& y) {
    return x.count != y.count ? x.count > y.count : x.key < y.key;
  });
  return merged;
}

}  // namespace sluice::insight
