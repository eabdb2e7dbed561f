#include "table_restore.h"

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "base/fault.h"
#include "daemon_config.h"
#include "open_table.h"
#include "sources/files.h"
#include "store/table_inspection.h"
#include "store/table_snapshot.h"
#include "store/table_snapshot_format.h"

namespace sluice::app {

namespace {

namespace fs = std::filesystem;

// Reading checks the snapshot; the keys themselves are not needed.
class NoKeys final : public store::KeySink {
 public:
  bool Take(const store::KeyImage& /*image*/, std::span<const std::byte> /*items*/) override {
    return true;
  }
};

// The number of keys of a valid snapshot.
Result<std::uint64_t> KeysOf(const std::string& snapshot) {
  NoKeys none;
  const auto about = store::InspectTable(snapshot, none);
  if (!about) {
    return tl::unexpected(about.error());
  }
  if (!about->is_snapshot) {
    return FileFault(snapshot,
                     "is a table, not a snapshot: a daemon uses it directly, at table.path");
  }
  return about->keys;
}

Result<TableFiles> ReadTableFiles(const std::string& config_file) {
  std::string text;
  if (!config_file.empty()) {
    auto read = sources::ReadFile(config_file);
    if (!read) {
      return tl::unexpected(read.error());
    }
    text = *std::move(read);
  }
  rules::Findings findings;
  const DaemonConfig config = ReadDaemonConfig(text, config_file, findings);
  if (!findings.errors.empty()) {
    return tl::unexpected(findings.errors.front());
  }
  TableFiles files = FilesOf(config);
  if (files.snapshot.empty()) {
    return Fault(
        "this configuration keeps no snapshots: its table is in "
        "memory, or snapshot_interval is off");
  }
  return files;
}

// Synced to disk when this returns.
Result<void> CopyDurably(const std::string& from, const std::string& to) {
  std::error_code error;
  fs::create_directories(fs::path(to).parent_path(), error);
  fs::copy_file(from, to, fs::copy_options::overwrite_existing, error);
  if (error) {
    return FileFault(to, "cannot be written: " + error.message());
  }
  const int fd = ::open(to.c_str(), O_RDONLY | O_CLOEXEC);
  const bool synced = fd >= 0 && ::fsync(fd) == 0;
  const int why = errno;
  if (fd >= 0) {
    ::close(fd);
  }
  if (!synced) {
    return FileFault(to, "cannot be synced to disk: " + std::generic_category().message(why));
  }
  return {};
}

}  // namespace

Result<void> RestoreTable(const std::string& snapshot, const std::string& config_file) {
  const auto keys = KeysOf(snapshot);
  if (!keys) {
    return tl::unexpected(keys.error());
  }
  const auto files = ReadTableFiles(config_file);
  if (!files) {
    return tl::unexpected(files.error());
  }
  std::error_code error;
  if (fs::exists(files->path, error)) {
    return FileFault(files->path,
                     "the table exists, and the daemon would load it instead of the snapshot: stop "
                     "the daemon, remove this file, and try again");
  }
  if (fs::equivalent(snapshot, files->snapshot, error)) {
    return FileFault(snapshot, "is already this table's snapshot: the next start loads it");
  }
  const store::SnapshotFiles target{.newest = files->snapshot};
  if (auto copied = CopyDurably(snapshot, target.unfinished()); !copied) {
    return copied;
  }
  if (const auto copy = KeysOf(target.unfinished()); !copy) {
    return tl::unexpected(copy.error());
  }
  if (auto published = target.Publish(); !published) {
    return published;
  }
  fmt::print(
      "{} keys restored to {}: the next start with this configuration "
      "loads them\n",
      *keys, files->snapshot);
  return {};
}

}  // namespace sluice::app
