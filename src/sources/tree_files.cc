#include "sources/tree_files.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

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
