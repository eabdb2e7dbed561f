#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/result.h"
#include "sluice/time.h"

#include "net/dial.h"
#include "net/tls_context.h"
#include "rules/findings.h"
#include "yaml/tree.h"

namespace sluice::app {

// PEM files of a client's side of TLS, and whom it expects.
struct ClientTlsConfig {
  std::string ca;    // "": the system's certificates.
  std::string cert;  // "": the server wants none.
  std::string key;
  std::string server_name;  // "": the host that is dialled.
  bool any_name = false;    // Any certificate signed by the CA is accepted as the server's.
};

inline constexpr std::string_view kRedisPort = "6379";
inline constexpr std::string_view kSentinelPort = "26379";

enum class RedisKind : std::uint8_t { kServer, kSentinel, kCluster };

// What `store: {redis: {...}}` says.
struct RedisConfig {
  RedisKind kind = RedisKind::kServer;
  std::vector<net::DialTarget> servers;  // The one; the Sentinels; some of the cluster.
  std::string primary;                   // As the Sentinels call it.
  std::string username;
  std::string password_file;  // "": none is asked for.
  std::string sentinel_username;
  std::string sentinel_password_file;
  std::optional<ClientTlsConfig> tls;
  std::size_t database = 0;
  Duration timeout = std::chrono::milliseconds(10);  // Of a call.
  std::size_t lease_keys = 100'000;  // Of rules with sync: lease, that one loop may borrow for.
  // What only the environment says (redis_environment.cc).
  std::string password{};           // In place of password_file.
  std::string sentinel_password{};  // In place of sentinel_password_file.
  Duration dial_timeout = std::chrono::seconds(1);
  // Another service's, which may be something that only looks like a Redis: says nothing that the
  // other does not say. So nodes are not counted.
  bool is_shared = false;
  std::int64_t expiry_jitter_s = 300;  // Of Envoy's counters: how much longer they may live.
};

// Reads `store`. None: it is the table. What is wrong is reported with place and remedy; files are
// read to say here what is wrong with them. Paths are relative to `folder`.
[[nodiscard]] std::optional<RedisConfig> ReadStore(const yaml::Node& node,
                                                   const std::filesystem::path& folder,
                                                   rules::Reporter& report);

// Reads a `tls` of a connection to a server.
[[nodiscard]] ClientTlsConfig ReadClientTls(const yaml::Node& node,
                                            const std::filesystem::path& folder,
                                            rules::Reporter& report);

// The certificates and keys that `tls` names; `protocols` are offered (ALPN). Errors name the file
// and the remedy.
[[nodiscard]] Result<std::shared_ptr<const net::TlsContext>> LoadClientTls(
    const ClientTlsConfig& tls, const std::vector<std::string>& protocols = {});

}  // namespace sluice::app
