#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "sluice/result.h"
#include "sluice/time.h"

#include "net/transport.h"

namespace sluice::net {

class EventLoop;

// Where a server is: a host and port, or the path of a Unix socket.
struct DialTarget {
  std::string host{};  // A name or an address, without brackets.
  std::string port{};
  std::string path{};  // Of a Unix socket; "" for the network.

  // "redis.example:6379", "[::1]:6379", "unix:/run/redis.sock"
  [[nodiscard]] std::string Text() const;
  [[nodiscard]] bool operator==(const DialTarget&) const = default;
};

// Reads what Text() writes; without a port it is `default_port`. Errors say how to write it.
[[nodiscard]] Result<DialTarget> ParseDialTarget(std::string_view text,
                                                 std::string_view default_port);

// One attempt at a connection: looks the name up and tries its addresses in turn. One thread, the
// loop's.
class Dial {
 public:
  // The transport, or the error.
  using OnDone = std::function<void(Result<std::unique_ptr<Transport>>)>;

  // Begins. `on_done` is called once, later, unless Cancel() comes first; it may destroy the
  // attempt. What takes longer than `timeout` is given up.
  [[nodiscard]] static std::shared_ptr<Dial> Begin(EventLoop& loop, const DialTarget& target,
                                                   Duration timeout, OnDone on_done);
  virtual ~Dial() = default;

  // No callback runs. After it is done: does nothing.
  virtual void Cancel() noexcept = 0;
};

}  // namespace sluice::net
