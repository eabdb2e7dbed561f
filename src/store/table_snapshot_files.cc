#include "store/table_snapshot_files.h"

#include <cerrno>
#include <cstdio>
#include <filesystem>

#include <fcntl.h>
#include <unistd.h>

#include "store/locked_file.h"

namespace sluice::store {

namespace {

bool Exists(const std::string& path) {
  return access(path.c_str(), F_OK) == 0;
}

// A second name for the newest, or, where the file system has no hard links, a move.
void KeepPrevious(const std::string& newest, const std::string& previous) {
  if (!Exists(newest)) {
    return;
  }
  unlink(previous.c_str());
  if (link(newest.c_str(), previous.c_str()) != 0) {
    (void)std::rename(newest.c_str(), previous.c_str());
  }
}

}  // namespace

Result<void> SnapshotFiles::Publish() const {
  KeepPrevious(newest, previous());
  if (std::rename(unfinished().c_str(), newest.c_str()) != 0) {
    return tl::unexpected(
        Error{"the new snapshot cannot be renamed into place (" + SystemWords(errno) + ")",
              {.file = newest}});
  }
  const std::filesystem::path folder = std::filesystem::path(newest).parent_path();
  const int descriptor =
      open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor >= 0) {
    (void)fsync(descriptor);  // Some file systems cannot; then a power cut may show the old names.
    close(descriptor);
  }
  return {};
}

}  // namespace sluice::store
