#include "rules/yaml_tree.h"

#include <cstddef>
#include <unordered_map>

#include "rules/foreign_yaml.h"
#include "rules/yaml_parser.h"
#include "rules/yaml_text.h"

namespace sluice::rules {

namespace {

void AddFault(const YamlParser& parser, const std::string& file, std::vector<Error>& problems) {
  if (const auto& fault = parser.fault()) {
    problems.push_back({fault->message, {file, fault->line, fault->column + 1}});
  }
}

void CheckKeys(const YamlNode& map, const std::string& file, std::vector<Error>& problems) {
  std::unordered_map<std::string_view, int> seen;
  for (std::size_t i = 0; i < map.pair_count(); ++i) {
    const YamlNode& key = map.key(i);
    const auto fail = [&](std::string message) {
      problems.push_back({std::move(message), {file, key.line, key.column}});
    };
    if (key.is_null()) {
      fail("a key is empty or null: write it in quotes");
    } else if (!key.is_text()) {
      fail(
          "a key must be a plain word, not a list or a map: put a text that begins with { or [ in "
          "quotes");
    } else if (key.text == "<<" && !key.quoted) {
      fail("merge keys (<<) are not supported: write the fields out");
    } else if (const auto [first, fresh] = seen.try_emplace(key.text, key.line); !fresh) {
      fail("key " + key.text + " is given twice (first in line " + std::to_string(first->second) +
           "): remove one of them");
    }
  }
}

}  // namespace

YamlTree::YamlTree(std::string_view text, const std::string& file, std::vector<Error>& problems) {
  root_ = &nodes_.emplace_back();
  const auto plain = PlainYamlText(text, file, problems);
  if (!plain) {
    return;
  }
  YamlParser parser(*plain, {}, nodes_);
  const YamlNode* const root = parser.ReadDocument();
  if (root == nullptr) {
    AddFault(parser, file, problems);
    return;
  }
  root_ = root;
  for (const YamlNode& node : nodes_) {
    if (node.is_map()) {
      CheckKeys(node, file, problems);
    }
  }
  if (parser.ReadDocument() != nullptr) {
    problems.push_back({"a second YAML document begins (---): a source holds one",
                        {file, parser.document_line(), 1}});
  }
  AddFault(parser, file, problems);
}

ForeignYaml::ForeignYaml(std::string_view text, const std::string& file,
                         std::vector<Error>& problems) {
  root_ = &nodes_.emplace_back();
  const auto plain = PlainYamlText(text, file, problems);
  if (!plain) {
    return;
  }
  YamlParser parser(*plain, {.any_flow_indent = true, .any_tag = true}, nodes_);
  if (const YamlNode* const root = parser.ReadDocument()) {
    root_ = root;
  }
  AddFault(parser, file, problems);
}

}  // namespace sluice::rules
