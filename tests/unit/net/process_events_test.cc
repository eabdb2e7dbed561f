#include "net/process_events.h"

#include <csignal>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "net/event_loop.h"

namespace sluice::net {
namespace {

using testing::ElementsAre;
using testing::StartsWith;

TEST(FdWatcherTest, CallsForEachReadinessUntilDestroyed) {
  EventLoop loop;
  const int fd = eventfd(0, EFD_CLOEXEC);
  int calls = 0;
  std::unique_ptr<FdWatcher> watcher;
  watcher = std::make_unique<FdWatcher>(loop, fd, [&] {
    eventfd_t value = 0;
    EXPECT_EQ(eventfd_read(watcher->fd(), &value), 0);
    EXPECT_NE(eventfd_read(watcher->fd(), &value), 0);  // Does not block.
    if (++calls == 2) {
      watcher.reset();
    }
  });
  EXPECT_EQ(loop.Poll(), 0U);
  eventfd_write(fd, 1);
  while (calls < 1) {
    loop.RunOne();
  }
  eventfd_write(fd, 1);
  while (calls < 2) {
    loop.RunOne();
  }
  loop.Poll();
  EXPECT_EQ(calls, 2);
}

TEST(SignalSetTest, TurnsSignalsIntoCalls) {
  EventLoop loop;
  std::vector<int> seen;
  SignalSet signals(loop, {SIGHUP, SIGTERM}, [&](int signal) { seen.push_back(signal); });
  std::raise(SIGHUP);
  while (seen.empty()) {
    loop.RunOne();
  }
  std::raise(SIGTERM);
  while (seen.size() < 2) {
    loop.RunOne();
  }
  EXPECT_THAT(seen, ElementsAre(SIGHUP, SIGTERM));
}

// A datagram socket with an abstract name that the kernel chooses.
struct Supervisor {
  Supervisor() : fd(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    EXPECT_EQ(bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof(sa_family_t)), 0);
    socklen_t size = sizeof address;
    EXPECT_EQ(getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size), 0);
    name.assign(address.sun_path, size - offsetof(sockaddr_un, sun_path));
    name[0] = '@';
  }
  ~Supervisor() { close(fd); }
  std::string Receive() const {
    char text[256];
    const ssize_t size = recv(fd, text, sizeof text, MSG_DONTWAIT);
    return size < 0 ? "" : std::string(text, static_cast<std::size_t>(size));
  }
  int fd;
  std::string name;
};

TEST(SystemdNotifyTest, TellsTheSupervisor) {
  const Supervisor supervisor;
  const SystemdNotify notify(supervisor.name);
  EXPECT_TRUE(notify.Ready());
  EXPECT_EQ(supervisor.Receive(), "READY=1");
  EXPECT_TRUE(notify.Reloading());
  EXPECT_THAT(supervisor.Receive(), StartsWith("RELOADING=1\nMONOTONIC_USEC="));
  EXPECT_TRUE(notify.Stopping());
  EXPECT_EQ(supervisor.Receive(), "STOPPING=1");
}

TEST(SystemdNotifyTest, NeedsNoSupervisor) {
  EXPECT_FALSE(SystemdNotify("").Ready());
  EXPECT_FALSE(SystemdNotify("/nonexistent/socket").Ready());
  EXPECT_FALSE(SystemdNotify(std::string(200, 'a')).Ready());
}

}  // namespace
}  // namespace sluice::net
