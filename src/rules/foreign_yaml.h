#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/result.h"

#include "rules/yaml_node.h"

namespace sluice::rules {

// A text whose format is not ours to lay down, under the limits of yaml_tree.h: a key may be given
// twice or be no plain word, which is left to who reads the tree, and documents after the first are
// passed over; lines in [] and {} may be indented as they like, and a tag of any kind makes text.
// Owns its nodes.
class ForeignYaml {
 public:
  // Problems (syntax, a limit passed) are appended to `problems` with places in `file`. Never
  // throws. The root is null for an empty text.
  ForeignYaml(std::string_view text, const std::string& file, std::vector<Error>& problems);

  [[nodiscard]] const YamlNode& root() const { return *root_; }

 private:
  std::deque<YamlNode> nodes_;
  const YamlNode* root_;
};

}  // namespace sluice::rules
