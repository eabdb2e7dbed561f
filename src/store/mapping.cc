#include "store/mapping.h"

#include <cerrno>
#include <cstdint>
#include <cstring>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace sluice::store {

namespace {

constexpr std::size_t kHugePage = std::size_t{2} << 20U;

tl::unexpected<Error> Fault(const std::string& path, const std::string& what) {
  return tl::unexpected(Error{what, {.file = path}});
}

std::string Why() {
  return std::strerror(errno);  // NOLINT(concurrency-mt-unsafe): glibc's is safe.
}

// Touches every page now, so that no decision pays for it later.
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
    return Fault("", "no memory for a table of " + std::to_string(bytes) + " bytes (" + Why() +
                         "): lower table.keys or table.blocks");
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

Result<Mapping> Mapping::File(const std::string& path, std::size_t bytes, bool huge_pages) {
  Mapping mapping;
  mapping.file_ = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (mapping.file_ < 0) {
    return Fault(path, "cannot be opened as a table (" + Why() + ")");
  }
  if (flock(mapping.file_, LOCK_EX | LOCK_NB) != 0) {
    return Fault(path,
                 "is the table of another process that is running: stop that one, or give this "
                 "one a path of its own (table.path)");
  }
  struct stat status{};
  if (fstat(mapping.file_, &status) != 0) {
    return Fault(path, "cannot be read (" + Why() + ")");
  }
  if (!S_ISREG(status.st_mode)) {
    return Fault(path, "is no regular file: give table.path the name of one, under /dev/shm");
  }
  const auto size = static_cast<std::size_t>(status.st_size);
  if (size != 0 && size != bytes) {
    return Fault(path,
                 "has " + std::to_string(size) + " bytes and these settings make a table of " +
                     std::to_string(bytes) +
                     ": set table.keys and table.blocks back to what they were, or remove the "
                     "file to start with every key fresh");
  }
  const int failed = posix_fallocate(mapping.file_, 0, static_cast<off_t>(bytes));
  if (failed != 0) {
    errno = failed;
    const std::string why = Why();
    if (size == 0) {  // Leave nothing half made behind.
      (void)ftruncate(mapping.file_, 0);
    }
    return Fault(path, "there is no room for " + std::to_string(bytes) + " bytes (" + why +
                           "): lower table.keys or table.blocks, or enlarge the file system");
  }
  mapping.mapped_bytes_ = bytes;
  mapping.mapped_ = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, mapping.file_, 0);
  if (mapping.mapped_ == MAP_FAILED) {
    mapping.mapped_ = nullptr;
    return Fault(path, "cannot be mapped (" + Why() + ")");
  }
  mapping.bytes_ = {static_cast<std::byte*>(mapping.mapped_), bytes};
  FaultIn(mapping.bytes_, huge_pages);
  return mapping;
}

Mapping& Mapping::operator=(Mapping&& other) noexcept {
  if (this != &other) {
    Close();
    bytes_ = std::exchange(other.bytes_, {});
    mapped_ = std::exchange(other.mapped_, nullptr);
    mapped_bytes_ = std::exchange(other.mapped_bytes_, 0);
    file_ = std::exchange(other.file_, -1);
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
  if (file_ >= 0) {
    close(file_);
  }
}

}  // namespace sluice::store
