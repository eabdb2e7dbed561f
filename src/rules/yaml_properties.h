#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "rules/yaml_cursor.h"
#include "rules/yaml_scalar.h"

namespace sluice::rules {

// The meaning of a tag for the value after it.
enum class YamlTag : std::uint8_t {
  kNone,
  kText,       // !!str, or "!" before a scalar: text, whatever it looks like.
  kAsWritten,  // !!int, !!float, !!bool, !!null: as it looks.
  kList,       // !!seq
  kMap,        // !!map
  kOther,
};

// The properties before a value: a tag ("!!str"), an anchor ("&name"), or both.
struct YamlProperties {
  YamlTag tag = YamlTag::kNone;
  std::string tag_text;     // As written.
  std::string_view anchor;  // "": none.

  [[nodiscard]] bool empty() const { return tag == YamlTag::kNone && anchor.empty(); }
};

// Tag prefixes that directives (%TAG) name, in addition to "!" and "!!".
struct YamlTagHandle {
  std::string_view name;
  std::string_view prefix;
};

// Reads directives, one per line. False after a fault: one is given twice, is malformed, or
// requires another major version of YAML.
[[nodiscard]] bool ReadYamlDirectives(YamlCursor& at, std::vector<YamlTagHandle>& handles,
                                      YamlFault& fault);

// Reads a tag and an anchor, on one line, and skips blanks after them. False after a fault: a
// second tag or anchor, a name that no directive defines, no blank after them.
[[nodiscard]] bool ReadYamlProperties(YamlCursor& at, bool in_flow,
                                      const std::vector<YamlTagHandle>& handles,
                                      YamlProperties& properties, YamlFault& fault);

}  // namespace sluice::rules
