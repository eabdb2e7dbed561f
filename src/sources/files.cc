#include "sources/files.h"

#include <array>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fault.h"
#include "yaml/tree.h"

namespace sluice::sources {

namespace {

namespace fs = std::filesystem;

tl::unexpected<Error> IoFault(const std::string& path, std::string_view doing, int number) {
  return tl::make_unexpected(
      Error{"cannot be " + std::string(doing) + ": " + std::generic_category().message(number),
            {path, 0, 0}});
}

// A descriptor that closes itself.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd_ >= 0) {
      ::close(fd_);
    }
  }
  [[nodiscard]] int get() const { return fd_; }

 private:
  int fd_;
};

// 0, or what errno says.
int WriteAll(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR) {
      continue;
    }
    if (written < 0) {
      return errno;
    }
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return ::fsync(fd) == 0 ? 0 : errno;
}

// A rename and an unlink last once the folder that holds the name is on the disk.
int SyncFolderOf(const fs::path& path) {
  const Descriptor folder(::open(path.parent_path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  return folder.get() >= 0 && ::fsync(folder.get()) == 0 ? 0 : errno;
}

// Makes `folder` and those above it that are missing; each new name is synced like a file's.
int MakeFolders(const fs::path& folder) {
  std::error_code error;
  if (folder.empty() || fs::is_directory(folder, error)) {
    return 0;
  }
  if (const int number = MakeFolders(folder.parent_path()); number != 0) {
    return number;
  }
  if (::mkdir(folder.c_str(), S_IRWXU) != 0 && errno != EEXIST) {
    return errno;
  }
  return SyncFolderOf(folder);
}

}  // namespace

Result<std::string> ReadFile(const std::string& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) {
    return IoFault(path, "read", errno);
  }
  std::string text;
  std::array<char, 1 << 16> block{};
  for (;;) {
    const ssize_t got = ::read(file.get(), block.data(), block.size());
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got < 0) {
      return IoFault(path, "read", errno);
    }
    if (got == 0) {
      return text;
    }
    text.append(block.data(), static_cast<std::size_t>(got));
    if (text.size() > yaml::kMaxTextBytes) {
      return FileFault(path, "cannot be read: more than 64 MiB");
    }
  }
}

Result<void> WriteDurably(const std::string& path, std::string_view text) {
  std::error_code error;
  const fs::path place = fs::absolute(path, error);
  if (error) {
    return IoFault(path, "found", error.value());
  }
  if (const int number = MakeFolders(place.parent_path()); number != 0) {
    return IoFault(place.parent_path().string(), "made", number);
  }
  const std::string beside = place.string() + ".new";
  {
    const Descriptor file(
        ::open(beside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, S_IRUSR | S_IWUSR));
    if (file.get() < 0) {
      return IoFault(beside, "written", errno);
    }
    if (const int number = WriteAll(file.get(), text); number != 0) {
      (void)::unlink(beside.c_str());
      return IoFault(beside, "written", number);
    }
  }
  if (std::rename(beside.c_str(), place.c_str()) != 0) {
    const int number = errno;
    (void)::unlink(beside.c_str());
    return IoFault(path, "replaced", number);
  }
  if (const int number = SyncFolderOf(place); number != 0) {
    return IoFault(path, "synced", number);
  }
  return {};
}

Result<void> RemoveDurably(const std::string& path) {
  std::error_code error;
  const fs::path place = fs::absolute(path, error);
  if (error) {
    return IoFault(path, "found", error.value());
  }
  if (::unlink(place.c_str()) != 0) {
    return errno == ENOENT ? Result<void>() : IoFault(path, "removed", errno);
  }
  if (const int number = SyncFolderOf(place); number != 0) {
    return IoFault(path, "synced", number);
  }
  return {};
}

}  // namespace sluice::sources
