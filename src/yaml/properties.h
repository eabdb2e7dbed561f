#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "yaml/cursor.h"
#include "yaml/scalar.h"

namespace sluice::yaml {

// The meaning of a tag for the value after it.
enum class Tag : std::uint8_t {
  kNone,
  kText,       // !!str, or "!" before a scalar: text, whatever it looks like.
  kAsWritten,  // !!int, !!float, !!bool, !!null: as it looks.
  kList,       // !!seq
  kMap,        // !!map
  kOther,
};

// The properties before a value: a tag ("!!str"), an anchor ("&name"), or both.
struct Properties {
  Tag tag = Tag::kNone;
  std::string tag_text;     // As written.
  std::string_view anchor;  // "": none.

  [[nodiscard]] bool empty() const { return tag == Tag::kNone && anchor.empty(); }
};

// Tag prefixes that directives (%TAG) name, in addition to "!" and "!!".
struct TagHandle {
  std::string_view name;
  std::string_view prefix;
};

// Reads directives, one per line. False after a fault: one is given twice, is malformed, or
// requires another major version of YAML.
[[nodiscard]] bool ReadDirectives(Cursor& at, std::vector<TagHandle>& handles, Fault& fault);

// Reads a tag and an anchor, on one line, and skips blanks after them. False after a fault: a
// second tag or anchor, a name that no directive defines, no blank after them.
[[nodiscard]] bool ReadProperties(Cursor& at, bool in_flow, const std::vector<TagHandle>& handles,
                                  Properties& properties, Fault& fault);

}  // namespace sluice::yaml
