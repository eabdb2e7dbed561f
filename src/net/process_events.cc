#include "net/process_events.h"

#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <utility>

#include <boost/asio/posix/stream_descriptor.hpp>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/assert.h"
#include "net/event_loop.h"

namespace sluice::net {

namespace {

int OpenBlocked(std::initializer_list<int> signals) {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : signals) {
    sigaddset(&set, signal);
  }
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  const int fd = ::signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
  SLUICE_ASSERT(fd >= 0);  // Linux has had it since 2.6.22; a descriptor is free at start.
  return fd;
}

}  // namespace

// Shared with the wait under way, which may outlive the watcher by one turn.
struct FdWatcher::State : std::enable_shared_from_this<FdWatcher::State> {
  using Descriptor = boost::asio::posix::stream_descriptor;

  State(EventLoop& loop, int fd, std::function<void()> on_readable_in)
      : on_readable(std::move(on_readable_in)), descriptor(loop.context(), fd) {
    boost::system::error_code ignored;
    (void)descriptor.non_blocking(true, ignored);
  }

  void Wait() {
    descriptor.async_wait(Descriptor::wait_read,
                          [self = shared_from_this()](const boost::system::error_code& error) {
                            if (error || !self->descriptor.is_open()) {
                              return;
                            }
                            self->on_readable();
                            if (self->descriptor.is_open()) {
                              self->Wait();
                            }
                          });
  }

  std::function<void()> on_readable;
  Descriptor descriptor;
};

FdWatcher::FdWatcher(EventLoop& loop, int fd, std::function<void()> on_readable)
    : state_(std::make_shared<State>(loop, fd, std::move(on_readable))) {
  state_->Wait();
}

FdWatcher::~FdWatcher() {
  boost::system::error_code ignored;
  (void)state_->descriptor.close(ignored);
}

int FdWatcher::fd() const {
  return state_->descriptor.native_handle();
}

SignalSet::SignalSet(EventLoop& loop, std::initializer_list<int> signals,
                     std::function<void(int)> on_signal)
    : on_signal_(std::move(on_signal)),
      watcher_(loop, OpenBlocked(signals), [this] { OnReadable(); }) {}

// One a turn: the watcher calls again as long as there are more, and not once it is gone.
void SignalSet::OnReadable() {
  signalfd_siginfo info{};
  if (::read(watcher_.fd(), &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
    on_signal_(static_cast<int>(info.ssi_signo));
  }
}

SystemdNotify SystemdNotify::FromEnvironment() {
  const char* socket = std::getenv("NOTIFY_SOCKET");  // NOLINT(concurrency-mt-unsafe): at start.
  return SystemdNotify(socket != nullptr ? socket : "");
}

bool SystemdNotify::Reloading() const {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  const long long micros = now.tv_sec * 1'000'000LL + now.tv_nsec / 1000;
  return Send("RELOADING=1\nMONOTONIC_USEC=" + std::to_string(micros));
}

bool SystemdNotify::Send(std::string_view state) const {
  sockaddr_un address{};
  if (socket_.empty() || socket_.size() >= sizeof address.sun_path) {
    return false;
  }
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, socket_.data(), socket_.size());
  if (address.sun_path[0] == '@') {
    address.sun_path[0] = '\0';  // Linux's abstract names begin with a NUL.
  }
  const int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) {
    return false;
  }
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + socket_.size());
  const ssize_t sent = sendto(fd, state.data(), state.size(), MSG_NOSIGNAL,
                              reinterpret_cast<const sockaddr*>(&address), size);
  close(fd);
  return sent == static_cast<ssize_t>(state.size());
}

}  // namespace sluice::net
