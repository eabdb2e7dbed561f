#include "sources/rule_globs.h"

#include <filesystem>
#include <set>
#include <system_error>
#include <utility>

#include <glob.h>

#include "base/fault.h"
#include "sources/files.h"

namespace sluice::sources {

bool IsGlob(std::string_view text) {
  return text.find_first_of("*?[") != text.npos;
}

std::vector<std::string> PathsOf(const std::string& glob) {
  std::vector<std::string> paths;
  glob_t found{};
  // NOLINTNEXTLINE(concurrency-mt-unsafe): only a tilde, which is not asked for, needs $HOME.
  if (::glob(glob.c_str(), 0, nullptr, &found) == 0) {
    paths.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  }
  globfree(&found);
  return paths;
}

Result<std::vector<rules::SourceText>> ReadGlobs(std::span<const std::string> globs) {
  std::vector<rules::SourceText> texts;
  std::set<std::string> seen;
  for (const std::string& pattern : globs) {
    std::vector<std::string> paths = PathsOf(pattern);
    if (paths.empty() && !IsGlob(pattern)) {
      return FileFault(pattern, "there is no such file");
    }
    for (std::string& path : paths) {
      if (!seen.insert(path).second) {
        continue;
      }
      std::error_code error;
      if (std::filesystem::is_directory(path, error)) {
        return FileFault(path, "is a directory: name its files, as in " + path + "/*.yaml");
      }
      auto text = ReadFile(path);
      if (!text.has_value()) {
        return tl::make_unexpected(std::move(text.error()));
      }
      texts.push_back({std::move(path), std::move(*text), false});
    }
  }
  return texts;
}

std::vector<Error> WarnOfEmptyGlobs(std::span<const std::string> globs) {
  std::vector<Error> warnings;
  for (const std::string& glob : globs) {
    if (IsGlob(glob) && PathsOf(glob).empty()) {
      warnings.push_back(
          {.message = "matches no file, so no rule comes from it", .place = {glob, 0, 0}});
    }
  }
  return warnings;
}

}  // namespace sluice::sources
