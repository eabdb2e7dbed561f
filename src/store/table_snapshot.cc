#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <mutex>

#include <fcntl.h>
#include <unistd.h>

#include "base/fault.h"
#include "store/key_copier.h"
#include "store/locked_file.h"
#include "store/table.h"
#include "store/table_snapshot_format.h"
#include "store/table_snapshot_writer.h"

// Writes a table's snapshot while other threads decide.
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

Result<SnapshotReport> Table::WriteSnapshot() {
  const SnapshotFiles files{.newest = snapshot_};
  if (snapshot_.empty()) {
    return Fault("this table has no snapshots");
  }
  const std::scoped_lock one_at_a_time(snapshotting_);
  Turn turn;
  if (!Begin(turn)) {
    return tl::unexpected(
        Error{"more than " + std::to_string(kMaxThreads) + " threads use the table", {}});
  }
  SnapshotHead head = NewSnapshotHead();
  head.geometry = header_->format.geometry;
  head.secret = header_->secret;
  auto writer = SnapshotWriter::Create(files.unfinished(), head);
  if (!writer) {
    return tl::unexpected(writer.error());
  }
  // Stops early where a write fails; Finish then says so.
  (void)KeyCopier(core_.slots, core_.blocks, turn.owner()).CopyAll(turn.now.monotonic, **writer);
  const TableNow end = monotonic_clock_.Now(clock_.Read());
  auto finished = (*writer)->Finish(
      core_.rules.places(), {.boot_id = header_->clock.boot_id,
                             .offset_ns = header_->clock.offset_ns.load(std::memory_order_relaxed),
                             .monotonic_ns = end.monotonic.time_since_epoch().count(),
                             .wall_clock_ns = end.wall_clock.time_since_epoch().count()});
  if (!finished) {
    return tl::unexpected(finished.error());
  }
  if (auto published = files.Publish(); !published) {
    return tl::unexpected(published.error());
  }
  return SnapshotReport{.keys = (*writer)->keys(), .bytes = (*writer)->bytes()};
}

}  // namespace sluice::store
