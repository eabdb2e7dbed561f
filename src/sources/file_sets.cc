#include "sources/file_sets.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <system_error>
#include <utility>

#include <glob.h>

#include "base/fault.h"
#include "sources/files.h"

namespace sluice::sources {

namespace {

namespace fs = std::filesystem;

constexpr int kMostDepth = 16;
constexpr std::size_t kMostFiles = 10'000;

class Walk {
 public:
  Walk(const TreeFilesOptions& options, TreeFiles& found) : options_(options), found_(found) {}

  void Into(const fs::path& directory, const std::string& name, int depth) {
    std::error_code error;
    std::vector<fs::path> entries;
    for (fs::directory_iterator at(directory, error); !error && at != fs::directory_iterator();
         at.increment(error)) {
      entries.push_back(at->path());
    }
    if (error) {
      Skip(directory, error.message());
    }
    std::ranges::sort(entries);
    for (const fs::path& entry : entries) {
      const std::string last = entry.filename().string();
      if (last.starts_with("..") || (options_.skip_dotfiles && last.starts_with('.'))) {
        continue;
      }
      Take(entry, (fs::path(name) / last).string(), depth);
    }
  }

 private:
  void Take(const fs::path& entry, const std::string& name, int depth) {
    std::error_code error;
    const fs::file_status status = fs::status(entry, error);
    if (fs::is_directory(status)) {
      if (depth < kMostDepth) {
        Into(entry, name, depth + 1);
      } else {
        Skip(entry, "it is nested too deep, or links to itself");
      }
    } else if (!fs::is_regular_file(status)) {
      Skip(entry, error ? error.message() : "it is not a file");
    } else if (found_.files.size() >= kMostFiles) {
      Skip(entry, "there are more than 10000 files");
    } else if (auto text = ReadFile(entry.string()); text) {
      found_.files.push_back({.name = name, .text = *std::move(text)});
    } else {
      found_.skipped.push_back(std::move(text.error()));
    }
  }

  void Skip(const fs::path& path, const std::string& why) {
    if (found_.skipped.size() < 100) {
      found_.skipped.push_back({"cannot be read: " + why, {path.string(), 0, 0}});
    }
  }

  const TreeFilesOptions options_;
  TreeFiles& found_;
};

}  // namespace

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

Result<TreeFiles> ReadTree(const std::string& root, const TreeFilesOptions& options) {
  std::error_code error;
  if (!fs::is_directory(root, error)) {
    return FileFault(root, "there is no such directory");
  }
  TreeFiles found;
  Walk(options, found).Into(root, "", 0);
  return found;
}

}  // namespace sluice::sources
