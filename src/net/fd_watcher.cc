#include "net/fd_watcher.h"

#include <utility>

#include <boost/asio/posix/stream_descriptor.hpp>

#include "net/event_loop.h"

namespace sluice::net {

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

}  // namespace sluice::net
