#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sluice/result.h"

namespace sluice::rules {

// One value of a YAML text with the place where it begins. Lines and columns count from 1.
//
// Our own tree instead of YAML::Node: it keeps the places of keys, sees keys given twice (a
// YAML::Node does not say), shares aliases instead of copying them, and costs a tenth of the
// memory where a file holds a million overrides.
struct YamlNode {
  enum class Kind : std::uint8_t { kNull, kText, kList, kMap };

  Kind kind = Kind::kNull;
  bool quoted = false;  // Text in quotes: "5" is text, 5 is a number.
  int line = 0;
  int column = 0;
  std::string text;
  std::vector<const YamlNode*> items;  // A list's values; a map's key, value, key, value, ...

  [[nodiscard]] bool is_null() const { return kind == Kind::kNull; }
  [[nodiscard]] bool is_text() const { return kind == Kind::kText; }
  [[nodiscard]] bool is_list() const { return kind == Kind::kList; }
  [[nodiscard]] bool is_map() const { return kind == Kind::kMap; }

  // Of a map.
  [[nodiscard]] std::size_t pair_count() const { return items.size() / 2; }
  [[nodiscard]] const YamlNode& key(std::size_t i) const { return *items[2 * i]; }
  [[nodiscard]] const YamlNode& value(std::size_t i) const { return *items[(2 * i) + 1]; }
};

// What a text may hold at most. A real file of 1,000 rules has some 20,000 nodes; a million
// overrides have four million.
inline constexpr std::size_t kMaxTextBytes = std::size_t{64} << 20;
inline constexpr std::size_t kMaxYamlNodes = 8'000'000;  // With every alias counted in full.
inline constexpr std::size_t kMaxYamlDepth = 32;

// One document, read whole. Owns its nodes.
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
