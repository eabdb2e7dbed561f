#pragma once

#include <cstddef>
#include <string>
#include <utility>

#include "sluice/result.h"

namespace sluice::store {

// A file that is locked for this process's table alone, from Open() on until it goes. Moves,
// does not copy.
class LockedFile {
 public:
  // Makes the file if it is not there. Each error says what to do: no such folder, no right to it,
  // another user's file, no regular file, another process's table.
  static Result<LockedFile> Open(const std::string& path);

  LockedFile(LockedFile&& other) noexcept { *this = std::move(other); }
  LockedFile& operator=(LockedFile&& other) noexcept;
  ~LockedFile();

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] int descriptor() const { return descriptor_; }
  [[nodiscard]] std::size_t size() const { return size_; }

  // Gives it exactly `bytes` bytes, all of which the file system has set aside: no later touch
  // of them can fail. What was there stays; what is new is zero.
  Result<void> Allocate(std::size_t bytes);
  // Empties it.
  Result<void> Clear();
  // Takes the place of `path`, at once.
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
