#pragma once

#include <functional>
#include <memory>
#include <string>

#include "net/dial.h"
#include "net/event_loop.h"
#include "net/tls_context.h"
#include "net/tls_transport.h"
#include "redis/channel.h"

namespace sluice::redis {

struct RedisSettings {
  net::DialTarget target;
  std::string username{};
  std::string password_file{};  // Read at every dial, so that passwords can be changed; "": none.
  // Certificates for a dial, read anew so that they can be changed; none: plain.
  std::function<Result<std::shared_ptr<const net::TlsContext>>()> tls{};
  std::string tls_name{};  // What the server's certificate must say; "": the host that is dialled.
  Duration dial_timeout = std::chrono::seconds(1);
  bool count_nodes = false;  // Whether this node counts itself among those that share the Redis.
  ChannelSettings channel{};
};

// Carries a channel's bytes between an event loop and a server: dials when the channel wants to,
// gathers what one turn of the loop asks and sends it in one write, keeps the channel's time. One
// thread, the loop's.
class Link {
 public:
  // Dials soon. All of these outlive it.
  Link(net::EventLoop& loop, const RedisSettings& settings, const base::Clock& clock,
       RedisMetrics& metrics, const Channel::OnEvent& on_event);
  ~Link();
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;

  [[nodiscard]] Channel& channel() { return channel_; }
  // After verbs were called: what they wrote leaves at the end of this turn.
  void Kick();
  [[nodiscard]] bool RunsHere() const;

 private:
  class Connection;
  struct Life;  // Tells posted work that the link is gone.

  void Pump();
  void StartDial();
  void OnDialed(Result<std::unique_ptr<net::Transport>> transport);
  void Begin(std::unique_ptr<net::Transport> transport);
  void Drop(std::string_view why);
  void ArmWake();
  [[nodiscard]] Result<Credentials> ReadCredentials() const;

  net::EventLoop& loop_;
  const RedisSettings& settings_;
  Channel channel_;
  net::Timer wake_;
  Channel::Time wake_at_ = Channel::Time::max();
  bool kicked_ = false;
  std::shared_ptr<net::Dial> dial_;
  std::shared_ptr<net::TlsHandshake> handshake_;
  std::shared_ptr<Connection> connection_;
  std::shared_ptr<Life> life_;
};

}  // namespace sluice::redis
