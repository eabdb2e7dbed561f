#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/result.h"

#include "rules/yaml_node.h"

namespace sluice::rules {

// One YAML document, read whole: a rule file or a configuration. Owns its nodes.
//
// YAML 1.2, and stricter where a person would be surprised: a key is a plain word or a text in
// quotes and is given once, there are no merge keys, and of tags those alone have a meaning that
// YAML itself defines. How a scalar is written is kept, so that each reader decides what it is: no
// word but null is anything else than text here ("no" and "on" are words).
class YamlTree {
 public:
  // Reads `text`; problems (syntax, a key given twice, a limit passed, more than one document)
  // are appended to `problems` with places in `file`. Never throws. The root is null for an
  // empty text.
  YamlTree(std::string_view text, const std::string& file, std::vector<Error>& problems);

  [[nodiscard]] const YamlNode& root() const { return *root_; }

 private:
  std::deque<YamlNode> nodes_;
  const YamlNode* root_;
};

}  // namespace sluice::rules
