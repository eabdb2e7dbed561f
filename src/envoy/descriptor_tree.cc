#include "envoy/descriptor_tree.h"

#include <utility>

namespace sluice::envoy {

DescriptorLevel::DescriptorLevel() = default;
DescriptorLevel::~DescriptorLevel() = default;
DescriptorLevel::DescriptorLevel(DescriptorLevel&&) noexcept = default;
DescriptorLevel& DescriptorLevel::operator=(DescriptorLevel&&) noexcept = default;

bool DescriptorNode::is_wildcard() const {
  return pattern.kind() != ValuePattern::Kind::kText || HasWildcard(key) || HasWildcard(value);
}

bool DescriptorNode::Matches(std::string_view of_key, std::string_view of_value) const {
  if (!MatchesWildcard(key, of_key)) {
    return false;
  }
  if (pattern.kind() != ValuePattern::Kind::kText) {
    return pattern.Matches(of_value);
  }
  return value.empty() || MatchesWildcard(value, of_value);
}

bool DescriptorLevel::Add(std::unique_ptr<DescriptorNode> node) {
  if (!by_name_.try_emplace({node->key, node->value, node->pattern.kind()}, node.get()).second) {
    return false;
  }
  if (node->is_wildcard()) {
    wildcards_.push_back(node.get());
  }
  nodes_.push_back(std::move(node));
  return true;
}

DescriptorLevel::Found DescriptorLevel::Find(std::string_view key, std::string_view value) const {
  if (!value.empty()) {
    if (const auto exact = by_name_.find({key, value}); exact != by_name_.end()) {
      // A value that reads as a pattern does not name the pattern's rule.
      if (!exact->second->is_wildcard()) {
        return {exact->second, By::kValue};
      }
    }
  }
  for (const DescriptorNode* node : wildcards_) {
    if (node->Matches(key, value)) {
      return {node, By::kWildcard};
    }
  }
  const auto by_key = by_name_.find({key, std::string_view()});
  if (by_key != by_name_.end() && !by_key->second->is_wildcard()) {
    return {by_key->second, By::kKey};
  }
  return {};
}

void FindLimits(const DescriptorLevel& level, const wire::RlsDescriptor& descriptor, Match& match) {
  match.Clear();
  const DescriptorLevel* at = &level;
  const DescriptorNode* node = nullptr;
  bool names_value = false;
  for (const wire::RlsEntry& entry : descriptor.entries) {
    const DescriptorLevel::Found found = at->Find(entry.key, entry.value);
    node = found.node;
    if (node == nullptr) {
      return;
    }
    const bool shares = found.by == DescriptorLevel::By::kWildcard && node->share_threshold;
    std::string_view pattern;
    if (shares) {
      pattern = node->value.empty() ? std::string_view(node->key) : std::string_view(node->value);
    }
    match.shared.push_back(pattern);
    match.way.push_back(found);
    names_value = names_value ||
                  (node->value_to_metric && !shares && found.by != DescriptorLevel::By::kValue);
    at = &node->children;
  }
  if (node != nullptr && !node->limits.empty()) {
    match.limits = node->limits;
    match.has_value_in_metric = names_value || node->limits.front()->detailed_metric;
  }
}

}  // namespace sluice::envoy
