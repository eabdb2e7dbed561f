#include "net/dial.h"

#include <utility>

#include <boost/asio/connect.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <fmt/format.h>

#include "base/fault.h"
#include "net/event_loop.h"
#include "net/tcp_transport.h"

namespace sluice::net {

namespace {

using boost::asio::ip::tcp;
using boost::system::error_code;
using Local = boost::asio::local::stream_protocol;

class Attempt final : public Dial, public std::enable_shared_from_this<Attempt> {
 public:
  Attempt(EventLoop& loop, const DialTarget& target, OnDone on_done)
      : target_(target),
        on_done_(std::move(on_done)),
        resolver_(loop.context()),
        socket_(loop.context()),
        local_(loop.context()),
        timeout_([this] { Fail("no connection in time"); }) {}

  void Start(EventLoop& loop, Duration timeout) {
    loop.ArmAfter(timeout_, timeout);
    if (!target_.path.empty()) {
      StartLocal();
      return;
    }
    resolver_.async_resolve(target_.host, target_.port,
                            [self = shared_from_this()](const error_code& error,
                                                        const tcp::resolver::results_type& found) {
                              self->OnResolved(error, found);
                            });
  }

  void Cancel() noexcept override {
    on_done_ = nullptr;
    GiveUp();
  }

 private:
  void StartLocal() {
    if (target_.path.size() >= sizeof(sockaddr_un::sun_path)) {
      // Asio would throw. The answer still comes later, as every answer.
      boost::asio::post(local_.get_executor(), [self = shared_from_this()] {
        self->Fail("the path is longer than a Unix socket's may be");
      });
      return;
    }
    local_.async_connect(Local::endpoint(target_.path),
                         [self = shared_from_this()](const error_code& error) {
                           if (error) {
                             self->Fail(error.message());
                           } else if (self->on_done_) {
                             self->Finish(MakeUnixTransport(std::move(self->local_)));
                           }
                         });
  }

  void OnResolved(const error_code& error, const tcp::resolver::results_type& found) {
    if (error) {
      Fail(error.message());
      return;
    }
    if (!on_done_) {
      return;
    }
    boost::asio::async_connect(socket_, found,
                               [self = shared_from_this()](const error_code& failed, const auto&) {
                                 if (failed) {
                                   self->Fail(failed.message());
                                 } else if (self->on_done_) {
                                   self->Finish(MakeTcpTransport(std::move(self->socket_)));
                                 }
                               });
  }

  void Fail(std::string_view why) {
    if (on_done_) {
      Finish(tl::unexpected(
          Error{.message = fmt::format("cannot connect to {}: {}", target_.Text(), why)}));
    }
  }

  void Finish(Result<std::unique_ptr<Transport>> result) {
    const auto keep = shared_from_this();
    const OnDone done = std::exchange(on_done_, nullptr);
    GiveUp();
    done(std::move(result));
  }

  void GiveUp() noexcept {
    timeout_.Cancel();
    resolver_.cancel();
    error_code ignored;
    socket_.close(ignored);
    local_.close(ignored);
  }

  const DialTarget target_;
  OnDone on_done_;  // Empty once it was called or cancelled.
  tcp::resolver resolver_;
  tcp::socket socket_;
  Local::socket local_;
  Timer timeout_;
};

tl::unexpected<Error> BadTarget(std::string_view text, std::string_view why) {
  return Fault(fmt::format("`{}` {}: write host:port, [::1]:port, or unix:/path for a Unix socket",
                           text, why));
}

}  // namespace

std::string DialTarget::Text() const {
  if (!path.empty()) {
    return "unix:" + path;
  }
  return (host.find(':') == std::string::npos ? host : "[" + host + "]") + ":" + port;
}

Result<DialTarget> ParseDialTarget(std::string_view text, std::string_view default_port) {
  constexpr std::string_view kUnix = "unix:";
  if (text.starts_with(kUnix) || text.starts_with('/')) {
    const std::string_view path = text.starts_with('/') ? text : text.substr(kUnix.size());
    if (path.empty()) {
      return BadTarget(text, "has no path");
    }
    return DialTarget{.path = std::string(path)};
  }
  std::string_view host = text;
  std::string_view port = default_port;
  if (text.starts_with('[')) {
    const std::size_t end = text.find(']');
    if (end == std::string_view::npos) {
      return BadTarget(text, "has an unbalanced bracket");
    }
    host = text.substr(1, end - 1);
    const std::string_view rest = text.substr(end + 1);
    if (!rest.empty() && !rest.starts_with(':')) {
      return BadTarget(text, "is not an address");
    }
    port = rest.empty() ? port : rest.substr(1);
  } else if (const std::size_t colon = text.rfind(':'); colon != std::string_view::npos) {
    host = text.substr(0, colon);
    port = text.substr(colon + 1);
    if (host.find(':') != std::string_view::npos) {
      return BadTarget(text, "has several colons");
    }
  }
  if (host.empty() || port.empty()) {
    return BadTarget(text, host.empty() ? "has no host" : "has no port");
  }
  if (port.size() > 5 || port.find_first_not_of("0123456789") != std::string_view::npos ||
      std::stoi(std::string(port)) > 65535 || std::stoi(std::string(port)) == 0) {
    return BadTarget(text, "has no port from 1 to 65535");
  }
  return DialTarget{.host = std::string(host), .port = std::string(port)};
}

std::shared_ptr<Dial> Dial::Begin(EventLoop& loop, const DialTarget& target, Duration timeout,
                                  OnDone on_done) {
  auto attempt = std::make_shared<Attempt>(loop, target, std::move(on_done));
  attempt->Start(loop, timeout);
  return attempt;
}

}  // namespace sluice::net
