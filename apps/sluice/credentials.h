#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sluice/result.h"

#include "daemon_config.h"
#include "frontend/access_token.h"
#include "net/tls_context.h"
#include "net/tls_transport.h"
#include "sources/file_follower.h"
#include "sources/file_source.h"
#include "telemetry/registry.h"

namespace sluice::net {
class EventLoop;
}  // namespace sluice::net

namespace sluice::app {

// The certificates and keys that `tls` names, as one listener's side of TLS. Errors name the
// file and the remedy.
[[nodiscard]] Result<std::shared_ptr<const net::TlsContext>> LoadTls(
    const TlsConfig& tls, const std::vector<std::string>& protocols = {});

// What a token file holds, without the blanks and line breaks at its end.
[[nodiscard]] Result<std::string> LoadToken(const std::string& path);
// What is wrong with `secret` as a listener's token; "" for nothing.
[[nodiscard]] std::string_view FaultOfToken(std::string_view secret);

// What one listener shows and asks for. Changed while connections are served; what has begun
// goes on with what it began with.
struct ListenerCredentials {
  std::unique_ptr<net::CurrentTlsContext> tls;   // None: plain.
  std::unique_ptr<frontend::AccessToken> token;  // None: no certificate is required.
};

// Keeps all listeners' credentials in step with their files: read at start, and again whenever a
// file changes or the operator says so. What does not load leaves the one in use as it is; the
// log says why, once for the same texts and on each SIGHUP, and sluice_credential_reloads_total
// counts it. One thread, the loop's; Write() from any.
class Credentials final : public telemetry::Source {
 public:
  // Loads all. Both outlive it. Errors say which file keeps the daemon from starting.
  [[nodiscard]] static Result<std::unique_ptr<Credentials>> Load(net::EventLoop& loop,
                                                                 const DaemonConfig& config);

  // Of config.listeners[i]. Stays put.
  [[nodiscard]] const ListenerCredentials& Of(std::size_t listener) const {
    return *listeners_[listener];
  }
  // Of all listeners.
  [[nodiscard]] net::TlsCounters& tls_counters() const { return tls_counters_; }

  // Reads everything again, on an operator's request.
  void ReloadOnDemand() { Reload(sources::ReloadCause::kOperator); }

  void Write(telemetry::Exposition& out) const override;

 private:
  // Something read from files, of one listener.
  struct Item {
    std::string what;  // "certificate of 0.0.0.0:8443".
    std::vector<std::string> files;
    std::function<Result<void>()> load;  // Puts it in use.
    std::size_t in_use = 0;              // A hash of the texts in use,
    std::size_t failed = 0;              // and of those that did not load; 0: none.
  };

  explicit Credentials(sources::FileSource files) : files_(std::move(files)) {}
  [[nodiscard]] Result<void> Add(const ListenerConfig& config);
  [[nodiscard]] Result<void> AddTls(const ListenerConfig& config, ListenerCredentials& listener);
  [[nodiscard]] Result<void> AddToken(const ListenerConfig& config, ListenerCredentials& listener);
  [[nodiscard]] Result<void> AddItem(Item item);
  void Reload(sources::ReloadCause cause);

  sources::FileSource files_;
  std::vector<std::unique_ptr<ListenerCredentials>> listeners_;
  std::vector<std::string> addresses_;
  std::vector<Item> items_;
  mutable net::TlsCounters tls_counters_;
  std::atomic<std::uint64_t> reloaded_{0};
  std::atomic<std::uint64_t> failed_{0};
  std::unique_ptr<sources::FileFollower> follower_;
};

}  // namespace sluice::app
