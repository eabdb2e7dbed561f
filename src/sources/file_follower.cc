#include "sources/file_follower.h"

#include <cerrno>
#include <system_error>
#include <utility>

#include <fcntl.h>

#include "net/event_loop.h"

namespace sluice::sources {

FileFollower::FileFollower(net::EventLoop& loop, FileSource& files, Duration settle,
                           std::function<void()> on_changed, int fd)
    : loop_(loop),
      files_(files),
      settle_(settle),
      on_changed_(std::move(on_changed)),
      watcher_(loop, fd, [this] { OnReadable(); }),
      settled_([this] {
        settling_ = false;
        on_changed_();
      }) {}

Result<std::unique_ptr<FileFollower>> FileFollower::Create(net::EventLoop& loop, FileSource& files,
                                                           Duration settle,
                                                           std::function<void()> on_changed) {
  // The watcher closes its descriptor, and the source its own.
  const int fd = ::fcntl(files.fd(), F_DUPFD_CLOEXEC, 0);
  if (fd < 0) {
    return tl::unexpected(
        Error{.message = "cannot watch files: " + std::generic_category().message(errno)});
  }
  return std::unique_ptr<FileFollower>(
      new FileFollower(loop, files, settle, std::move(on_changed), fd));
}

void FileFollower::OnReadable() {
  if (files_.OnReadable() && !settling_) {
    settling_ = true;
    loop_.ArmAfter(settled_, settle_, net::TimerPrecision::kExact);
  }
}

}  // namespace sluice::sources
