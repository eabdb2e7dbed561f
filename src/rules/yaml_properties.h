#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "rules/yaml_cursor.h"
#include "rules/yaml_scalar.h"

namespace sluice::rules {

// What a tag says of the value after it.
enum class YamlTag : std::uint8_t {
  kNone,
  kText,       // !!str, or of a scalar "!": text, whatever it looks like.
  kAsWritten,  // !!int, !!float, !!bool, !!null: what it looks like.
  kList,       // !!seq
  kMap,        // !!map
  kOther,
};

// What may stand before a value: a tag ("!!str"), an anchor ("&name"), or both.
struct YamlProperties {
  YamlTag tag = YamlTag::kNone;
  std::string tag_text;     // As written.
  std::string_view anchor;  // "": none.

  [[nodiscard]] bool empty() const { return tag == YamlTag::kNone && anchor.empty(); }
};

// Beginnings of tags that directives (%TAG) give a name, beside "!" and "!!".
struct YamlTagHandle {
  std::string_view name;
  std::string_view prefix;
};

// Reads directives, each in a line of its own, as far as to what is none. False after a fault: one
// is given twice, is malformed, or is of another major version of YAML.
[[nodiscard]] bool ReadYamlDirectives(YamlCursor& at, std::vector<YamlTagHandle>& handles,
                                      YamlFault& fault);

// Adds the tag and the anchor that stand here, in one line, and skips blanks after them. False
// after a fault: a second tag or anchor, a name that no directive gives, no blank after them.
[[nodiscard]] bool ReadYamlProperties(YamlCursor& at, bool in_flow,
                                      const std::vector<YamlTagHandle>& handles,
                                      YamlProperties& properties, YamlFault& fault);

}  // namespace sluice::rules
