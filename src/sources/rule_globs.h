#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/result.h"

#include "rules/rule_set.h"

// Rule files as an operator names them: paths, and globs with wildcards (* ? [...]) in any part.
namespace sluice::sources {

[[nodiscard]] bool IsGlob(std::string_view text);

// The paths that a glob names now, sorted; a path without wildcards names itself, if it exists.
[[nodiscard]] std::vector<std::string> PathsOf(const std::string& glob);

// All files that the globs name now, each once, in the order of their paths within each glob.
// `name` is the path as the glob spells it. A glob that finds nothing is no error. Errors: a
// file that cannot be read, or a path without wildcards that is not there; the others are
// not read then.
[[nodiscard]] Result<std::vector<rules::SourceText>> ReadGlobs(std::span<const std::string> globs);

// A warning for each glob that names no file now: a slip in it would lift all its limits in
// silence.
[[nodiscard]] std::vector<Error> WarnOfEmptyGlobs(std::span<const std::string> globs);

}  // namespace sluice::sources
