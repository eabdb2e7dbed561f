#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "sluice/result.h"

#include "base/fault.h"
#include "command.h"
#include "command_line.h"
#include "daemon_config.h"
#include "daemon_files.h"
#include "sources/files.h"
#include "store/table_inspection.h"
#include "store/table_snapshot_format.h"

// sluice table restore.
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

// Copies `snapshot`, which may be of a table with another name or from another host, to where the
// daemon with `config_file` ("": the defaults) looks for its own, and prints the result. An
// existing snapshot becomes the previous one. Errors: the snapshot is invalid; the configuration is
// invalid or keeps no snapshots; the table itself exists, and a start would use it instead.
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

}  // namespace

void AddTableRestore(CLI::App& parent, int& exit_code) {
  auto snapshot = std::make_shared<std::string>();
  auto config = std::make_shared<std::string>();
  Command& verb =
      AddCommand(parent, "restore", "Restore a table from a snapshot of another table or host",
                 {.notes = "For a table that gets another path or moves to another host. Stop the "
                           "daemon first. Its table must not exist: remove it if it does.",
                  .exit_codes = "0 restored, 1 not restored",
                  .examples = {{"Take over the counters of a table with another path",
                                "sluice table restore old.snapshot --config moved.yaml"}}});
  verb.add_option("snapshot", *snapshot, "A snapshot of any table")->required()->type_name("FILE");
  verb.add_option("--config", *config, "The configuration of the daemon that will load it")
      ->type_name("FILE");
  verb.callback([snapshot, config, &exit_code] {
    const Result<void> done = RestoreTable(*snapshot, *config);
    if (!done) {
      std::fprintf(stderr, "sluice: %s\n", done.error().Text().c_str());
    }
    exit_code = done ? kExitOk : kExitNo;
  });
}

}  // namespace sluice::app
