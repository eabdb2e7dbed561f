#pragma once

#include <functional>
#include <memory>
#include <string>

#include "sluice/result.h"
#include "sluice/time.h"

#include "net/dial.h"
#include "net/tls_context.h"
#include "net/tls_transport.h"
#include "net/transport.h"

namespace sluice::net {
class EventLoop;
}  // namespace sluice::net

namespace sluice::redis {

// How connections to servers are opened.
struct OpeningSettings {
  // Certificates for a connection, read each time so that they can be changed; none: plain.
  std::function<Result<std::shared_ptr<const net::TlsContext>>()> tls{};
  std::string tls_name{};  // What the server's certificate must say; "": the host that is dialled.
  Duration timeout = std::chrono::seconds(1);  // Of the dial, and of the handshake after it.
};

struct Credentials {
  std::string username{};  // "": the default user.
  std::string password{};  // "": none is asked for.
};

// Of whom to be; the file is read each time, so that the password can be changed. "" for
// `password_file`: it is `password`, "" for none.
[[nodiscard]] Result<Credentials> ReadCredentials(const std::string& username,
                                                  const std::string& password_file,
                                                  const std::string& password);

// One attempt at a connection to a server, TLS included. One thread, the loop's.
class Opening {
 public:
  using OnDone = std::function<void(Result<std::unique_ptr<net::Transport>>)>;

  // Begins. `on_done` is called once, later, unless the attempt is destroyed before; it may destroy
  // it. `settings` and `loop` outlive it.
  Opening(net::EventLoop& loop, const OpeningSettings& settings, const net::DialTarget& target,
          OnDone on_done);
  ~Opening();
  Opening(const Opening&) = delete;
  Opening& operator=(const Opening&) = delete;

 private:
  void OnDialed(Result<std::unique_ptr<net::Transport>> transport);
  void Finish(Result<std::unique_ptr<net::Transport>> transport);

  net::EventLoop& loop_;
  const OpeningSettings& settings_;
  const net::DialTarget target_;
  OnDone on_done_;
  std::shared_ptr<net::Dial> dial_;
  std::shared_ptr<net::TlsHandshake> handshake_;
};

}  // namespace sluice::redis
