#pragma once

#include <cstddef>
#include <string>
#include <utility>

#include "sluice/result.h"

namespace sluice::store {

// A file that is locked for this process's table, from Open() to its destruction. Moves, does not
// copy.
class LockedFile {
 public:
  // Creates the file if it does not exist. Each error says what to do: no such folder, no
  // permission, another user's file, no regular file, another process's table.
  static Result<LockedFile> Open(const std::string& path);

  LockedFile(LockedFile&& other) noexcept { *this = std::move(other); }
  LockedFile& operator=(LockedFile&& other) noexcept;
  ~LockedFile();

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] int descriptor() const { return descriptor_; }
  [[nodiscard]] std::size_t size() const { return size_; }

  // Gives the file exactly `bytes` bytes, all of which the file system has allocated, so no later
  // access can fail. Existing bytes stay; new ones are zero.
  Result<void> Allocate(std::size_t bytes);
  // Empties it.
  Result<void> Clear();
  // Replaces `path` atomically.
  Result<void> RenameTo(const std::string& path);

 private:
  LockedFile() = default;

  std::string path_;
  int descriptor_ = -1;
  std::size_t size_ = 0;
};

// "No space left on device"
[[nodiscard]] std::string SystemWords(int error);

}  // namespace sluice::store
