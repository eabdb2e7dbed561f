#include "net/unix_socket.h"

#include <cerrno>

#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/fault.h"

namespace sluice::net {

namespace {

using Local = boost::asio::local::stream_protocol;

constexpr int kMostWaiting = 1024;

tl::unexpected<Error> CannotListenAt(const std::string& path, std::string_view why) {
  return Fault(fmt::format("cannot listen on unix:{}: {}", path, why));
}

// Takes away what a process that has ended left at `path`.
Result<void> MakeRoom(const std::string& path) {
  struct stat found{};
  if (::lstat(path.c_str(), &found) != 0) {
    return {};
  }
  if (!S_ISSOCK(found.st_mode)) {
    return CannotListenAt(path, "the path exists and is not a socket");
  }
  boost::asio::io_context unused;
  Local::socket probe(unused);
  boost::system::error_code error;
  probe.connect(Local::endpoint(path), error);
  if (error != boost::asio::error::connection_refused) {
    return CannotListenAt(path, error ? error.message() : "another process uses it");
  }
  ::unlink(path.c_str());
  return {};
}

}  // namespace

Result<std::unique_ptr<UnixSocket>> UnixSocket::Bind(const std::string& path) {
  if (path.empty() || path.size() >= sizeof(sockaddr_un::sun_path)) {
    return CannotListenAt(
        path, fmt::format("a path has 1 to {} bytes", sizeof(sockaddr_un::sun_path) - 1));
  }
  if (auto room = MakeRoom(path); !room) {
    return tl::unexpected(room.error());
  }
  boost::asio::io_context unused;
  Local::acceptor acceptor(unused);
  boost::system::error_code error;
  acceptor.open(Local(), error);
  if (!error) {
    acceptor.bind(Local::endpoint(path), error);
  }
  if (!error) {
    acceptor.listen(kMostWaiting, error);
  }
  const int fd = error ? -1 : acceptor.release(error);
  if (error) {
    return CannotListenAt(path, error.message());
  }
  return std::unique_ptr<UnixSocket>(new UnixSocket(path, fd));
}

UnixSocket::~UnixSocket() {
  ::close(fd_);
  ::unlink(path_.c_str());
}

}  // namespace sluice::net
