#include "store/locked_file.h"

#include <cerrno>
#include <cstdio>
#include <system_error>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fault.h"

namespace sluice::store {

namespace {

std::string OpenFault(int error) {
  const std::string what = "cannot be opened as a table (" + SystemWords(error) + "): ";
  switch (error) {
    case ENOENT:
    case ENOTDIR:
      return what + "create its directory, or set another table.path";
    case EACCES:
    case EPERM:
      return what + "run as the owner of the file, or set another table.path";
    case EROFS:
      return what + "set table.path to a writable place, best under /dev/shm";
    case ELOOP:
      return what + "it is a symbolic link: set table.path to the file itself";
    default:
      return what + "set another table.path, best under /dev/shm";
  }
}

// Whether `path` still names the opened file: a process that resizes a table replaces the file.
bool IsStillNamed(const std::string& path, const struct stat& opened) {
  struct stat named{};
  return stat(path.c_str(), &named) == 0 && named.st_dev == opened.st_dev &&
         named.st_ino == opened.st_ino;
}

}  // namespace

std::string SystemWords(int error) {
  return std::generic_category().message(error);
}

Result<LockedFile> LockedFile::Open(const std::string& path) {
  for (;;) {
    LockedFile file;
    file.path_ = path;
    file.descriptor_ = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (file.descriptor_ < 0) {
      return FileFault(path, OpenFault(errno));
    }
    struct stat status{};
    if (fstat(file.descriptor_, &status) != 0) {
      return FileFault(path, "cannot be read (" + SystemWords(errno) + ")");
    }
    if (!S_ISREG(status.st_mode)) {
      return FileFault(path,
                       "is not a regular file: set table.path to a regular file under /dev/shm");
    }
    // Its owner could truncate it while we use it.
    if (status.st_uid != geteuid()) {
      return FileFault(path, "belongs to user " + std::to_string(status.st_uid) +
                                 ", and this is user " + std::to_string(geteuid()) +
                                 ": run as its owner, change its owner, or give table.path another "
                                 "name");
    }
    if (flock(file.descriptor_, LOCK_EX | LOCK_NB) != 0) {
      return FileFault(path,
                       "is the table of another running process: stop that process, or set "
                       "another table.path for this one");
    }
    if (fstat(file.descriptor_, &status) == 0 && IsStillNamed(path, status)) {
      file.size_ = static_cast<std::size_t>(status.st_size);
      return file;
    }
  }
}

Result<void> LockedFile::Allocate(std::size_t bytes) {
  const int failed = posix_fallocate(descriptor_, 0, static_cast<off_t>(bytes));
  if (failed != 0) {
    if (size_ == 0) {
      (void)Clear();  // Leaves no half-made file behind.
    }
    return FileFault(path_, "there is no room for " + std::to_string(bytes) + " bytes (" +
                                SystemWords(failed) +
                                "): lower table.keys or table.blocks, or enlarge the file system "
                                "(in a container: --shm-size)");
  }
  size_ = bytes;
  return {};
}

Result<void> LockedFile::Clear() {
  if (ftruncate(descriptor_, 0) != 0) {
    return FileFault(path_, "cannot be emptied (" + SystemWords(errno) + ")");
  }
  size_ = 0;
  return {};
}

Result<void> LockedFile::RenameTo(const std::string& path) {
  if (std::rename(path_.c_str(), path.c_str()) != 0) {
    return FileFault(path_, "cannot be renamed to " + path + " (" + SystemWords(errno) + ")");
  }
  path_ = path;
  return {};
}

LockedFile& LockedFile::operator=(LockedFile&& other) noexcept {
  if (this != &other) {
    std::swap(path_, other.path_);
    std::swap(descriptor_, other.descriptor_);
    std::swap(size_, other.size_);
  }
  return *this;
}

LockedFile::~LockedFile() {
  if (descriptor_ >= 0) {
    close(descriptor_);
  }
}

}  // namespace sluice::store
