#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace sluice::rules {

// One value of a YAML text with the place where it begins. Lines and columns count from 1, columns
// in bytes. An alias is the very node that it names, not a copy.
struct YamlNode {
  enum class Kind : std::uint8_t { kNull, kText, kList, kMap };

  Kind kind = Kind::kNull;
  bool quoted = false;  // Text in quotes, or of | or >: "5" is text, 5 is a number.
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

}  // namespace sluice::rules
