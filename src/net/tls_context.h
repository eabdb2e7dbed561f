#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sluice/result.h"
#include "sluice/time.h"

struct ssl_ctx_st;  // OpenSSL's SSL_CTX: its headers stay in the .cc files.

namespace sluice::net {

// A file in PEM form, read by the code that watches it; `path` is for messages.
struct PemFile {
  std::string path;
  std::string text;
};

struct TlsServerSettings {
  PemFile certificate;  // The server's own first, then its chain.
  PemFile key;          // Not encrypted: a daemon cannot ask for a passphrase.
  // Who signs clients' certificates: given, a client without one of theirs is refused.
  std::optional<PemFile> client_ca{};
  // With client_ca: what its certificate must name among its alternative names, a host (a wildcard
  // certificate matches) or an address. "": nothing.
  std::string client_name{};
  // What is spoken behind TLS, best first ("h2", "http/1.1"): the choice goes by this order. A
  // client that offers protocols, and none of these, is refused; one that offers none is not.
  // Empty: whatever clients offer is passed over.
  std::vector<std::string> protocols{};
};

struct TlsClientSettings {
  std::optional<PemFile> ca{};  // Authorities for servers' certificates. None: the system's.
  std::optional<PemFile> certificate{};  // For a server that requires one; its key goes with it.
  std::optional<PemFile> key{};
  std::vector<std::string> protocols{};  // What to offer, best first.
  // False: anybody may be the server. For tests and closed networks.
  bool verify_server = true;
  // Whether the certificate must be the named server's; else any that is signed as it should be.
  bool verify_name = true;
};

// Certificates and rules of one side of TLS, checked and ready: TLS 1.2 and 1.3, in 1.2 only
// suites with forward secrecy and authenticated encryption, no renegotiation, no compression.
// Immutable: new files make a new one, and connections keep the one that they began with. Any
// thread.
class TlsContext {
 public:
  // Errors name the file and the remedy.
  [[nodiscard]] static Result<std::shared_ptr<const TlsContext>> Server(
      const TlsServerSettings& settings);
  [[nodiscard]] static Result<std::shared_ptr<const TlsContext>> Client(
      const TlsClientSettings& settings);

  ~TlsContext();
  TlsContext(const TlsContext&) = delete;
  TlsContext& operator=(const TlsContext&) = delete;

  [[nodiscard]] bool is_server() const { return is_server_; }
  [[nodiscard]] bool verifies_name() const { return verifies_name_; }
  // When the own certificate ends; none where there is none.
  [[nodiscard]] std::optional<WallInstant> not_after() const { return not_after_; }
  [[nodiscard]] ssl_ctx_st* native() const { return context_; }
  // The protocols in the form that goes over the wire.
  [[nodiscard]] const std::string& protocols() const { return protocols_; }

 private:
  explicit TlsContext(bool is_server);
  Result<void> SetProtocols(const std::vector<std::string>& protocols);
  Result<void> UseCertificate(const PemFile& certificate, const PemFile& key);
  Result<void> Trust(const PemFile& ca);

  const bool is_server_;
  bool verifies_name_ = true;
  ssl_ctx_st* const context_;
  std::string protocols_;
  std::optional<WallInstant> not_after_;
};

// The context that new connections begin with; replaced when certificates change. Any thread.
class CurrentTlsContext {
 public:
  explicit CurrentTlsContext(std::shared_ptr<const TlsContext> first)
      : context_(std::move(first)) {}

  [[nodiscard]] std::shared_ptr<const TlsContext> Get() const {
    const std::lock_guard lock(mutex_);
    return context_;
  }
  void Set(std::shared_ptr<const TlsContext> next) {
    const std::lock_guard lock(mutex_);
    context_ = std::move(next);
  }

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<const TlsContext> context_;
};

}  // namespace sluice::net
