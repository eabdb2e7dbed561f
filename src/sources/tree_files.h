#pragma once

#include <string>
#include <vector>

#include "sluice/result.h"

#include "rules/rule_set.h"

namespace sluice::sources {

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
