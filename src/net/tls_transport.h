#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "sluice/result.h"
#include "sluice/time.h"

#include "net/tls_context.h"
#include "net/transport.h"

namespace sluice::net {

class EventLoop;

// What became of handshakes. Counts only. Any thread.
struct TlsCounters {
  std::atomic<std::uint64_t> done{0};
  std::atomic<std::uint64_t> failed{0};  // The peer's fault: no TLS, no common ground, no trust.
  std::atomic<std::uint64_t> timed_out{0};
};

// Turns a transport into one that speaks TLS: completes the handshake first, so that upper layers
// never see a connection without one. One turn's bytes are sealed together and leave in one write.
// The end of a stream that its peer did not announce (close_notify) is an error, not an end:
// somebody may have cut it off. One thread, the loop's.
class TlsHandshake {
 public:
  // The transport, or the error.
  using OnDone = std::function<void(Result<std::unique_ptr<Transport>>)>;

  // Begins. `on_done` is called once, later, unless Cancel() comes first; it may destroy the
  // handshake. `server_name` is for clients: see TlsSession. What takes longer than `timeout`, as
  // the bytes of a slow peer may, is closed. `counters` may be null, and outlives the handshake.
  static std::shared_ptr<TlsHandshake> Begin(EventLoop& loop, std::unique_ptr<Transport> under,
                                             std::shared_ptr<const TlsContext> context,
                                             std::string_view server_name, Duration timeout,
                                             TlsCounters* counters, OnDone on_done);
  virtual ~TlsHandshake() = default;

  // Closes the connection; no callback runs. After it is done: does nothing.
  virtual void Cancel() noexcept = 0;
};

}  // namespace sluice::net
