#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "rules/ip_address.h"

namespace sluice::rules {

[[nodiscard]] inline bool BlockContains(std::string_view prefix, std::string_view text) {
  return text.starts_with(prefix);
}
[[nodiscard]] inline bool BlockContains(const IpPrefix& block, const IpPrefix& other) {
  return block.Contains(other);
}

// Finds which of many prefixes (of texts or addresses) contain a value, without trying all.
//
// Two prefixes are either disjoint or nested, and in sorted order each precedes all that it
// contains. So every prefix that contains a value also contains the value's predecessor in the
// sorted list, or is that predecessor, and is found by following `outer` from there. The cost is
// one binary search plus the depth of the nesting.
template <class Block, class Query>
class NestedBlocks {
 public:
  // Before Seal().
  void Add(const Block& block, std::uint32_t rule) { entries_.push_back({block, -1, {rule}}); }

  void Seal() {
    std::stable_sort(entries_.begin(), entries_.end(),
                     [](const Entry& a, const Entry& b) { return a.block < b.block; });
    std::vector<Entry> merged;
    for (Entry& entry : entries_) {
      if (!merged.empty() && merged.back().block == entry.block) {
        merged.back().rules.push_back(entry.rules.front());
        continue;
      }
      int outer = static_cast<int>(merged.size()) - 1;
      while (outer >= 0 &&
             !BlockContains(merged[static_cast<std::size_t>(outer)].block, entry.block)) {
        outer = merged[static_cast<std::size_t>(outer)].outer;
      }
      entry.outer = outer;
      merged.push_back(std::move(entry));
    }
    entries_ = std::move(merged);
  }

  // Calls found(rule) for every rule of every block that contains `value`.
  template <class Found>
  void Find(const Query& value, const Found& found) const {
    const auto after =
        std::upper_bound(entries_.begin(), entries_.end(), value,
                         [](const Query& q, const Entry& entry) { return q < entry.block; });
    for (int at = static_cast<int>(after - entries_.begin()) - 1; at >= 0;) {
      const Entry& entry = entries_[static_cast<std::size_t>(at)];
      if (BlockContains(entry.block, value)) {
        for (const std::uint32_t rule : entry.rules) {
          found(rule);
        }
      }
      at = entry.outer;
    }
  }

  [[nodiscard]] bool empty() const { return entries_.empty(); }

 private:
  struct Entry {
    Block block;
    int outer = -1;  // The smallest block that contains this one; -1 if none.
    std::vector<std::uint32_t> rules;
  };
  std::vector<Entry> entries_;
};

using PrefixBlocks = NestedBlocks<std::string, std::string_view>;
using AddressBlocks = NestedBlocks<IpPrefix, IpPrefix>;

}  // namespace sluice::rules
