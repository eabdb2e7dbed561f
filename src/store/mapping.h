#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <utility>

#include "sluice/result.h"

namespace sluice::store {

// The bytes that a table lives in: plain memory, or a file that is mapped shared, locked
// for this process alone, and fully allocated, so that no later touch of it can fail or
// wait. Unmapped and unlocked when it goes.
class Mapping {
 public:
  // Zeroed memory that lives and dies with the process.
  static Result<Mapping> Anonymous(std::size_t bytes, bool huge_pages);
  // The file at `path`, made if it is not there. A file that is empty, or that has exactly
  // `bytes` bytes, is taken; any other is refused unchanged, with the remedy, and so is one
  // that another process has open as a table.
  static Result<Mapping> File(const std::string& path, std::size_t bytes, bool huge_pages);

  Mapping(Mapping&& other) noexcept { *this = std::move(other); }
  Mapping& operator=(Mapping&& other) noexcept;
  ~Mapping();

  [[nodiscard]] std::span<std::byte> bytes() const { return bytes_; }

 private:
  Mapping() = default;
  void Close();

  std::span<std::byte> bytes_;
  void* mapped_ = nullptr;  // What munmap gets: `bytes_` is aligned within it.
  std::size_t mapped_bytes_ = 0;
  int file_ = -1;
};

}  // namespace sluice::store
