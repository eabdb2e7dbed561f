#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/result.h"

namespace sluice::yaml {

// One value of a YAML text with its position. Lines and columns count from 1, columns in bytes. An
// alias is the node that it names, not a copy.
struct Node {
  enum class Kind : std::uint8_t { kNull, kText, kList, kMap };

  Kind kind = Kind::kNull;
  bool quoted = false;  // Text in quotes, or of | or >: "5" is text, 5 is a number.
  int line = 0;
  int column = 0;
  std::string text;
  std::vector<const Node*> items;  // A list's values; a map's key, value, key, value, ...

  [[nodiscard]] bool is_null() const { return kind == Kind::kNull; }
  [[nodiscard]] bool is_text() const { return kind == Kind::kText; }
  [[nodiscard]] bool is_list() const { return kind == Kind::kList; }
  [[nodiscard]] bool is_map() const { return kind == Kind::kMap; }

  // Of a map.
  [[nodiscard]] std::size_t pair_count() const { return items.size() / 2; }
  [[nodiscard]] const Node& key(std::size_t i) const { return *items[2 * i]; }
  [[nodiscard]] const Node& value(std::size_t i) const { return *items[(2 * i) + 1]; }
};

// Limits of a text. A real file of 1,000 rules has some 20,000 nodes; a million overrides have four
// million.
inline constexpr std::size_t kMaxTextBytes = std::size_t{64} << 20;
inline constexpr std::size_t kMaxNodes = 8'000'000;  // With every alias counted in full.
inline constexpr std::size_t kMaxDepth = 32;

// One YAML document, read whole: a rule file or a configuration. Owns its nodes.
//
// YAML 1.2, and stricter where a user would be surprised: a key is a plain word or a quoted text
// and is given once, there are no merge keys, and only YAML's own tags are accepted. A node keeps
// whether it was quoted, and each reader decides what a scalar means. Only null is not text here:
// "no" and "on" are words.
class Tree {
 public:
  // Parses `text`. Problems (syntax, a key given twice, an exceeded limit, more than one document)
  // are appended to `problems` with positions in `file`. Never throws. The root is null for an
  // empty text.
  Tree(std::string_view text, const std::string& file, std::vector<Error>& problems);

  [[nodiscard]] const Node& root() const { return *root_; }

 private:
  std::deque<Node> nodes_;
  const Node* root_;
};

// YAML of a format that other software defines, with the limits of Tree. A key may be given
// twice or not be a plain word; the caller handles that. Documents after the first are ignored.
// Lines in [] and {} may have any indentation, and any tag makes text. Owns its nodes.
class ForeignTree {
 public:
  // Problems (syntax, an exceeded limit) are appended to `problems` with positions in `file`. Never
  // throws. The root is null for an empty text.
  ForeignTree(std::string_view text, const std::string& file, std::vector<Error>& problems);

  [[nodiscard]] const Node& root() const { return *root_; }

 private:
  std::deque<Node> nodes_;
  const Node* root_;
};

}  // namespace sluice::yaml
