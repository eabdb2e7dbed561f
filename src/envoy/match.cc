#include "envoy/match.h"

namespace sluice::envoy {

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
