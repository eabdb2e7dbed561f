#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "sluice/result.h"

#include "store/table_snapshot_format.h"

namespace sluice::store {

// Writes one snapshot to a new file, from front to back. A file that was not finished is removed.
// One thread.
class SnapshotWriter final : public KeySink {
 public:
  // Creates the file, or truncates an existing one. Errors say why and what to do.
  static Result<std::unique_ptr<SnapshotWriter>> Create(const std::string& path,
                                                        const SnapshotHead& head);
  ~SnapshotWriter() override;
  SnapshotWriter(const SnapshotWriter&) = delete;
  SnapshotWriter& operator=(const SnapshotWriter&) = delete;

  // False once a write has failed: Finish says why.
  bool Take(const KeyImage& image, std::span<const std::byte> items) override;

  // The last part. Of `tail` only the clock is read. Returns when the bytes are on the
  // disk, as far as the kernel knows. Once.
  Result<void> Finish(std::span<const RulePlace> rules, SnapshotTail tail);

  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
  [[nodiscard]] std::uint64_t keys() const { return keys_; }

 private:
  SnapshotWriter(std::string path, int file);
  template <class T>
  void Append(const T& value) {
    Append(std::as_bytes(std::span(&value, 1)));
  }
  void Append(std::span<const std::byte> bytes);
  void Flush();
  [[nodiscard]] tl::unexpected<Error> Fault() const;

  std::string path_;
  int file_;
  int failed_ = 0;  // errno of the first write that failed.
  bool finished_ = false;
  std::uint64_t bytes_ = 0;
  std::uint64_t images_ = 0;
  std::uint64_t keys_ = 0;
  std::vector<std::byte> buffer_;
  SnapshotSum sum_;
};

}  // namespace sluice::store
