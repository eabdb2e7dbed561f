#include "store/mapping.h"

#include <cerrno>
#include <cstdint>

#include <sys/mman.h>

#include "base/assert.h"
#include "base/fault.h"

namespace sluice::store {

namespace {

constexpr std::size_t kHugePage = std::size_t{2} << 20U;

// Touches every page now, so that no decision has to do it later.
void FaultIn(std::span<std::byte> bytes, bool huge_pages) {
  if (huge_pages) {
    madvise(bytes.data(), bytes.size(), MADV_HUGEPAGE);
  }
  if (madvise(bytes.data(), bytes.size(), MADV_POPULATE_WRITE) == 0) {
    return;
  }
  for (std::size_t at = 0; at < bytes.size(); at += 4096) {  // Before Linux 5.14.
    volatile std::byte& byte = bytes[at];
    byte = byte;
  }
}

}  // namespace

Result<Mapping> Mapping::Anonymous(std::size_t bytes, bool huge_pages) {
  Mapping mapping;
  mapping.mapped_bytes_ = bytes + (huge_pages ? kHugePage : 0);
  mapping.mapped_ = mmap(nullptr, mapping.mapped_bytes_, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapping.mapped_ == MAP_FAILED) {
    mapping.mapped_ = nullptr;
    return FileFault("", "no memory for a table of " + std::to_string(bytes) + " bytes (" +
                             SystemWords(errno) + "): lower table.keys or table.blocks");
  }
  auto* base = static_cast<std::byte*>(mapping.mapped_);
  if (huge_pages) {
    const auto misfit = reinterpret_cast<std::uintptr_t>(base) % kHugePage;
    base += misfit == 0 ? 0 : kHugePage - misfit;
  }
  mapping.bytes_ = {base, bytes};
  FaultIn(mapping.bytes_, huge_pages);
  return mapping;
}

Result<Mapping> Mapping::File(LockedFile file, std::size_t bytes, bool huge_pages) {
  if (auto allocated = file.Allocate(bytes); !allocated) {
    return tl::unexpected(allocated.error());
  }
  Mapping mapping;
  mapping.mapped_bytes_ = bytes;
  mapping.mapped_ = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.descriptor(), 0);
  if (mapping.mapped_ == MAP_FAILED) {
    mapping.mapped_ = nullptr;
    return FileFault(file.path(), "cannot be mapped (" + SystemWords(errno) + ")");
  }
  mapping.file_.emplace(std::move(file));
  mapping.bytes_ = {static_cast<std::byte*>(mapping.mapped_), bytes};
  FaultIn(mapping.bytes_, huge_pages);
  return mapping;
}

Result<void> Mapping::RenameTo(const std::string& path) {
  SLUICE_ASSERT(file_.has_value());  // Not needed for plain memory.
  return file_->RenameTo(path);
}

Mapping& Mapping::operator=(Mapping&& other) noexcept {
  if (this != &other) {
    Close();
    bytes_ = std::exchange(other.bytes_, {});
    mapped_ = std::exchange(other.mapped_, nullptr);
    mapped_bytes_ = std::exchange(other.mapped_bytes_, 0);
    file_ = std::exchange(other.file_, std::nullopt);
  }
  return *this;
}

Mapping::~Mapping() {
  Close();
}

void Mapping::Close() {
  if (mapped_ != nullptr) {
    munmap(mapped_, mapped_bytes_);
  }
  file_.reset();
}

}  // namespace sluice::store
