#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "sluice/result.h"

#include "store/table_snapshot_format.h"

namespace sluice::store {

class SnapshotSum;

// Reads one snapshot. Call Verify() first, which reads every byte before any is used. It uses
// read(), not a mapping, so that a file that shrinks is an error and no signal.
class SnapshotReader {
 public:
  // Errors: it cannot be opened, is no snapshot, has another format, or is truncated.
  static Result<SnapshotReader> Open(const std::string& path);

  SnapshotReader(SnapshotReader&& other) noexcept;
  SnapshotReader& operator=(SnapshotReader&& other) = delete;
  ~SnapshotReader();

  // Compares the checksum, and passes every key to `sink` meanwhile. Errors: damaged.
  Result<void> Verify(KeySink& sink);
  // Passes every key to `sink`, until the sink stops.
  Result<void> ForEachKey(KeySink& sink);
  [[nodiscard]] Result<std::vector<SnapshotRule>> Rules();

  [[nodiscard]] const SnapshotHead& head() const { return head_; }
  [[nodiscard]] const SnapshotTail& tail() const { return tail_; }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  SnapshotReader(std::string path, int file) : path_(std::move(path)), file_(file) {}

  Result<void> ReadEnds();
  Result<void> Walk(KeySink& sink, SnapshotSum* sum);
  [[nodiscard]] std::uint64_t keys_end() const {
    return tail_.file_bytes - sizeof(SnapshotTail) - tail_.rules * sizeof(SnapshotRule);
  }
  [[nodiscard]] tl::unexpected<Error> Fault(const std::string& what) const;

  std::string path_;
  int file_;
  SnapshotHead head_;
  SnapshotTail tail_;
};

}  // namespace sluice::store
