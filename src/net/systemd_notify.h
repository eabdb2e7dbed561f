#pragma once

#include <string>
#include <string_view>

namespace sluice::net {

// Tells systemd how the service is (sd_notify(3)), by a datagram to $NOTIFY_SOCKET, without
// libsystemd. Any thread; never blocks; no supervisor has to listen.
class SystemdNotify {
 public:
  // `socket`: a path, or '@' and an abstract name; "" without a supervisor.
  explicit SystemdNotify(std::string socket) : socket_(std::move(socket)) {}
  [[nodiscard]] static SystemdNotify FromEnvironment();

  // Each returns false if no message was sent.
  bool Ready() const { return Send("READY=1"); }
  bool Stopping() const { return Send("STOPPING=1"); }
  // Reloading() and then Ready() frame a reload; the time lets systemd tell which is newer.
  bool Reloading() const;
  // A line for `systemctl status`.
  bool Status(std::string_view text) const { return Send("STATUS=" + std::string(text)); }

 private:
  [[nodiscard]] bool Send(std::string_view state) const;

  std::string socket_;
};

}  // namespace sluice::net
