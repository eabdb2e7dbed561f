#pragma once

#include <string>

#include "rules/yaml_cursor.h"
#include "rules/yaml_scalar.h"

namespace sluice::rules {

// Reads an escape in double quotes (YAML 1.2.2, chapter 5.7) and adds its character to `text`, in
// UTF-8. `at` is at the backslash, which no line break follows. False, and `fault` is set: no such
// escape, or no such character.
[[nodiscard]] bool ReadEscape(YamlCursor& at, std::string& text, YamlFault& fault);

}  // namespace sluice::rules
