#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "envoy/limit.h"
#include "envoy/value_pattern.h"

namespace sluice::envoy {

struct DescriptorNode;

// The descriptors of one level of the tree.
//
// Keys and values are kept apart here, where the service that this follows joins them by `_`:
// there {key: a, value: b_c} and {key: a_b, value: c} are one rule, and a client can choose a key
// that reads as another's key and value.
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

  [[nodiscard]] bool empty() const { return nodes_.empty(); }
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
  // Views of the nodes' own texts. A node without a value stands under "".
  std::unordered_map<Name, const DescriptorNode*, HashName> by_name_;
  std::vector<const DescriptorNode*> wildcards_;
};

struct DescriptorNode {
  std::string key;
  std::string value;  // "" for any; of a pattern its text.
  ValuePattern pattern;
  // None, one, or those of a list: each counts for itself. What stands beside them (shadow_mode and
  // the like) they have in common.
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

}  // namespace sluice::envoy
