#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "envoy/limit.h"
#include "envoy/value_pattern.h"
#include "wire/rls_request.h"

namespace sluice::envoy {

struct DescriptorNode;

// The descriptors of one level of the tree.
//
// Keys and values are separate here. envoyproxy/ratelimit joins them by `_`: there {key: a, value:
// b_c} and {key: a_b, value: c} are the same rule, and a client can choose a key that equals
// another rule's key and value.
class DescriptorLevel {
 public:
  enum class By : std::uint8_t { kValue, kWildcard, kKey };
  struct Found {
    const DescriptorNode* node = nullptr;
    By by = By::kKey;
  };

  DescriptorLevel();
  ~DescriptorLevel();
  DescriptorLevel(DescriptorLevel&&) noexcept;
  DescriptorLevel& operator=(DescriptorLevel&&) noexcept;

  // False, with nothing changed, if this level has a node of that key and value. A node whose key
  // or value has a `*` is a wildcard.
  [[nodiscard]] bool Add(std::unique_ptr<DescriptorNode> node);

  // The node for one entry: of exactly this value; else the first wildcard that matches, in the
  // order in which they were added; else the one that names the key alone.
  [[nodiscard]] Found Find(std::string_view key, std::string_view value) const;

  // In the order of Add().
  [[nodiscard]] const std::vector<std::unique_ptr<DescriptorNode>>& nodes() const { return nodes_; }

 private:
  struct Name {
    std::string_view key;
    std::string_view value;
    ValuePattern::Kind kind = ValuePattern::Kind::kText;
    bool operator==(const Name&) const = default;
  };
  struct HashName {
    std::size_t operator()(const Name& name) const {
      const std::hash<std::string_view> hash;
      return hash(name.key) * 31 + hash(name.value);
    }
  };

  std::vector<std::unique_ptr<DescriptorNode>> nodes_;
  // Views the nodes' texts. A node without a value has the name's value "".
  std::unordered_map<Name, const DescriptorNode*, HashName> by_name_;
  std::vector<const DescriptorNode*> wildcards_;
};

struct DescriptorNode {
  std::string key;
  std::string value;  // "" for any; of a pattern its text.
  ValuePattern pattern;
  // None, one, or a list, each of which counts for itself. They share the flags of the descriptor,
  // such as shadow_mode.
  std::vector<std::unique_ptr<Limit>> limits;
  bool value_to_metric = false;
  bool share_threshold = false;
  DescriptorLevel children;

  // "key" or "key_value".
  [[nodiscard]] std::string Name() const { return value.empty() ? key : key + "_" + value; }
  [[nodiscard]] bool is_wildcard() const;
  // Of a wildcard.
  [[nodiscard]] bool Matches(std::string_view of_key, std::string_view of_value) const;
};

// The path of one descriptor through the tree.
struct Match {
  // None: the descriptor has no limit. Several: a list.
  std::span<const std::unique_ptr<Limit>> limits;
  // By entry: the pattern that replaces its value (share_threshold), else "". As long as the walk
  // found nodes.
  std::vector<std::string_view> shared;
  // The nodes on the path, and how each matched: for the names of statistics.
  std::vector<DescriptorLevel::Found> way;
  // Whether statistics are kept by the request's values, and not by the limit alone.
  bool has_value_in_metric = false;

  void Clear() {
    limits = {};
    shared.clear();
    way.clear();
    has_value_in_metric = false;
  }
};

// Walks down from `level`, an entry per level. The limits of the last entry's node apply; those of
// nodes above or below do not. `match` is reused.
void FindLimits(const DescriptorLevel& level, const wire::RlsDescriptor& descriptor, Match& match);

}  // namespace sluice::envoy
