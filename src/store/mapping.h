#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "sluice/result.h"

#include "store/locked_file.h"

namespace sluice::store {

// The bytes that a table lives in: plain memory, or a file that is mapped shared, locked for this
// process, and fully allocated, so that no later access can fail or wait. Unmapped and unlocked by
// the destructor.
class Mapping {
 public:
  // Zeroed memory that is gone when the process ends.
  static Result<Mapping> Anonymous(std::size_t bytes, bool huge_pages);
  // Maps `file` with exactly `bytes` bytes: its contents, followed by zeros.
  static Result<Mapping> File(LockedFile file, std::size_t bytes, bool huge_pages);

  Mapping(Mapping&& other) noexcept { *this = std::move(other); }
  Mapping& operator=(Mapping&& other) noexcept;
  ~Mapping();

  [[nodiscard]] std::span<std::byte> bytes() const { return bytes_; }
  // Requires a file.
  [[nodiscard]] Result<void> RenameTo(const std::string& path);

 private:
  Mapping() = default;
  void Close();

  std::span<std::byte> bytes_;
  void* mapped_ = nullptr;  // For munmap(): `bytes_` is aligned within it.
  std::size_t mapped_bytes_ = 0;
  std::optional<LockedFile> file_;
};

}  // namespace sluice::store
