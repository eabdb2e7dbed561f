#include "net/signal_set.h"

#include <csignal>
#include <utility>

#include <sys/signalfd.h>
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

}  // namespace sluice::net
