#include "sources/file_source.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fnmatch.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "sources/file_sets.h"

namespace sluice::sources {

namespace {

namespace fs = std::filesystem;

constexpr std::uint32_t kChanges = IN_CLOSE_WRITE | IN_CREATE | IN_DELETE | IN_MOVED_FROM |
                                   IN_MOVED_TO | IN_DELETE_SELF | IN_MOVE_SELF | IN_ATTRIB |
                                   IN_ONLYDIR;
constexpr int kMostLinks = 16;

// The directories in `directory` whose names fit `pattern`.
std::vector<fs::path> ChildrenOf(const fs::path& directory, const std::string& pattern) {
  std::vector<fs::path> children;
  std::error_code error;
  fs::directory_iterator at(directory, error);
  for (; !error && at != fs::directory_iterator(); at.increment(error)) {
    std::error_code ignored;
    if (fnmatch(pattern.c_str(), at->path().filename().c_str(), FNM_PERIOD) == 0 &&
        fs::is_directory(at->path(), ignored)) {
      children.push_back(at->path());
    }
  }
  return children;
}

}  // namespace

std::vector<FileSource::Part> FileSource::PartsOf(const std::string& path, bool is_pattern) {
  std::vector<Part> parts;
  std::error_code error;
  for (const fs::path& part : fs::absolute(path, error).lexically_normal().relative_path()) {
    parts.push_back({part.string(), is_pattern && IsGlob(part.string())});
  }
  return parts;
}

Result<FileSource> FileSource::Create(std::vector<std::string> globs,
                                      std::vector<std::string> watched) {
  const int fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
  if (fd < 0) {
    return tl::unexpected(Error{
        "no inotify descriptor: " + std::generic_category().message(errno) +
            "; raise fs.inotify.max_user_instances (sysctl), or end other programs of this user",
        {}});
  }
  FileSource source(std::move(globs), std::move(watched), fd);
  source.Arm();
  return source;
}

FileSource::FileSource(std::vector<std::string> globs, std::vector<std::string> watched, int fd)
    : globs_(std::move(globs)), watched_(std::move(watched)), fd_(fd) {}

FileSource::FileSource(FileSource&& other) noexcept
    : globs_(std::move(other.globs_)),
      watched_(std::move(other.watched_)),
      fd_(std::exchange(other.fd_, -1)),
      watches_(std::move(other.watches_)),
      paths_(std::move(other.paths_)) {}

FileSource& FileSource::operator=(FileSource&& other) noexcept {
  std::swap(globs_, other.globs_);
  std::swap(watched_, other.watched_);
  std::swap(fd_, other.fd_);
  std::swap(watches_, other.watches_);
  std::swap(paths_, other.paths_);
  return *this;
}

FileSource::~FileSource() {
  if (fd_ >= 0) {
    close(fd_);
  }
}

Result<std::vector<rules::SourceText>> FileSource::Read() const {
  return ReadGlobs(globs_);
}

bool FileSource::OnReadable() {
  bool changed = false;
  alignas(inotify_event) std::array<char, 16 * 1024> buffer{};
  for (;;) {
    const ssize_t got = read(fd_, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got <= 0) {
      break;
    }
    for (std::size_t at = 0; at < static_cast<std::size_t>(got);) {
      inotify_event event{};
      std::memcpy(&event, buffer.data() + at, sizeof(event));
      at += sizeof(event) + event.len;
      if ((event.mask & IN_IGNORED) != 0) {
        // The directory is gone, and its watch with it.
        if (const auto path = paths_.find(event.wd); path != paths_.end()) {
          watches_.erase(path->second);
          paths_.erase(path);
        }
      } else if ((event.mask & (IN_MOVE_SELF | IN_DELETE_SELF)) != 0) {
        inotify_rm_watch(fd_, event.wd);  // Its name may be another directory's soon.
      }
      changed = true;
    }
  }
  // A directory that came to be between an event and its watch may hold files already: watch
  // until nothing new turns up.
  for (int round = 0; round < kMostLinks && Arm(); ++round) {
    changed = true;
  }
  return changed;
}

bool FileSource::Arm() {
  found_unwatched_ = false;
  for (const std::string& pattern : globs_) {
    WatchOnTheWayTo(PartsOf(pattern, /*is_pattern=*/true), kMostLinks);
    for (const std::string& path : PathsOf(pattern)) {
      WatchOnTheWayTo(PartsOf(path, /*is_pattern=*/false), kMostLinks);
    }
  }
  for (const std::string& path : watched_) {
    WatchOnTheWayTo(PartsOf(path, /*is_pattern=*/false), kMostLinks);
  }
  return found_unwatched_;
}

// Watches the directory of every part of the path that is a link, and the last directory that
// there is on the way: where the next part will appear. A plain directory further up is not
// watched: to move it away is no change of rules that anybody makes.
void FileSource::WatchOnTheWayTo(const std::vector<Part>& parts, int links_left) {
  std::error_code error;
  fs::path at = "/";
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const bool last = i + 1 == parts.size();
    // The way on from `place`, with what is left of this one.
    const auto follow = [&](const std::string& place, int links) {
      std::vector<Part> way = PartsOf(place, /*is_pattern=*/false);
      way.insert(way.end(), parts.begin() + static_cast<std::ptrdiff_t>(i) + 1, parts.end());
      WatchOnTheWayTo(way, links);
    };
    if (parts[i].is_pattern) {
      Watch(at.string());
      for (const fs::path& child : last ? std::vector<fs::path>{} : ChildrenOf(at, parts[i].name)) {
        follow(child.string(), links_left);
      }
      return;
    }
    const fs::path next = at / parts[i].name;
    const fs::file_status status = fs::symlink_status(next, error);
    if (last || !fs::exists(status) || fs::is_symlink(status)) {
      Watch(at.string());
    }
    if (!fs::exists(status)) {
      return;
    }
    if (fs::is_symlink(status)) {
      const fs::path target = fs::read_symlink(next, error);
      if (!error && links_left > 0) {
        follow((at / target).string(), links_left - 1);  // An absolute target is used as it is.
      }
      return;
    }
    at = next;
  }
}

void FileSource::Watch(const std::string& directory) {
  const int watch = inotify_add_watch(fd_, directory.c_str(), kChanges);
  if (watch < 0) {
    return;  // It is gone again, or not ours to see: reading the files will tell.
  }
  // The kernel's number is what counts: a new directory of an old name has a new one.
  const auto [known, fresh] = watches_.try_emplace(directory, watch);
  if (fresh || known->second != watch) {
    paths_.erase(known->second);
    known->second = watch;
    found_unwatched_ = true;
  }
  paths_[watch] = directory;
}

}  // namespace sluice::sources
