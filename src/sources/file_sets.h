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

struct TreeFilesOptions {
  bool skip_dotfiles = false;  // Files and directories whose names begin with a dot.
};

// A file of a tree that could not be read is no part of it; the others are.
struct TreeFiles {
  std::vector<rules::SourceText> files;  // By path; `name` is the path below the root.
  std::vector<Error> skipped;
};

// All files below `root`, links followed, at any depth that is one (16). Names that begin with two
// dots are passed over in any case: in a mounted ConfigMap they are where the real files live,
// which are seen through links beside them. Error: the directory does not exist.
[[nodiscard]] Result<TreeFiles> ReadTree(const std::string& root, const TreeFilesOptions& options);

}  // namespace sluice::sources
