#include "store_config.h"

#include <array>
#include <string_view>
#include <utility>

#include "config_fields.h"
#include "files.h"
#include "rules/value_reader.h"

namespace sluice::app {

namespace {

using rules::Reporter;
using rules::YamlNode;

constexpr std::array<std::string_view, 1> kStoreFields{"redis"};
constexpr std::array<std::string_view, 10> kRedisFields{
    "password",      "address", "sentinel", "cluster", "username",
    "password_file", "tls",     "database", "timeout", "lease"};
constexpr std::array<std::string_view, 1> kLeaseFields{"keys"};
constexpr std::array<std::string_view, 4> kSentinelFields{"primary", "addresses", "username",
                                                          "password_file"};
constexpr std::array<std::string_view, 4> kTlsFields{"ca", "cert", "key", "server_name"};

constexpr std::string_view kRedisPort = "6379";
constexpr std::string_view kSentinelPort = "26379";
constexpr std::string_view kExample = "store: {redis: {address: redis.example:6379}}";
constexpr Units kMostLeaseKeys = 10'000'000;
constexpr Duration kLongestTimeout = std::chrono::seconds(10);

void ReadAddress(const YamlNode& node, std::string_view default_port, Reporter& report,
                 std::vector<net::DialTarget>& targets) {
  if (const auto text = rules::ReadText(node, "address", report)) {
    if (auto target = net::ParseDialTarget(*text, default_port)) {
      targets.push_back(*std::move(target));
    } else {
      report.Fail(node, target.error().message);
    }
  }
}

void ReadAddresses(const YamlNode& node, std::string_view field, std::string_view default_port,
                   Reporter& report, std::vector<net::DialTarget>& targets) {
  EachItem(node, field, report,
           [&](const YamlNode& item) { ReadAddress(item, default_port, report, targets); });
  if (node.is_list() && node.items.empty()) {
    report.Fail(node, std::string(field) + " is empty: name at least one server");
  }
}

// A password is read again at every dial; that it can be read at all shows here.
std::string ReadPasswordFile(const YamlNode& node, const std::filesystem::path& folder,
                             Reporter& report) {
  const auto text = rules::ReadText(node, "password_file", report);
  if (!text) {
    return {};
  }
  std::string path = (folder / *text).string();
  if (const auto read = ReadFile(path); !read) {
    report.Fail(node, read.error().Text());
  }
  return path;
}

ClientTlsConfig ReadClientTls(const YamlNode& node, const std::filesystem::path& folder,
                              Reporter& report) {
  ClientTlsConfig tls;
  bool sound = node.is_map() || node.is_null();
  EachField(node, "tls", kTlsFields, report, [&](std::string_view field, const YamlNode& value) {
    const auto text = rules::ReadText(value, field, report);
    sound = sound && text && !text->empty();
    if (!text) {
      return;
    }
    if (field == "server_name") {
      tls.server_name = *text;
      return;
    }
    std::string& path = field == "ca" ? tls.ca : field == "cert" ? tls.cert : tls.key;
    path = (folder / *text).string();
  });
  if (tls.cert.empty() != tls.key.empty()) {
    report.Fail(node, "a client certificate needs its key: write tls: {cert: FILE, key: FILE}");
  } else if (sound) {
    if (const auto loaded = LoadClientTls(tls); !loaded) {
      report.Fail(node, loaded.error().Text());
    }
  }
  return tls;
}

void ReadSentinel(const YamlNode& node, const std::filesystem::path& folder, Reporter& report,
                  RedisConfig& redis) {
  EachField(node, "sentinel", kSentinelFields, report,
            [&](std::string_view field, const YamlNode& value) {
              if (field == "primary") {
                redis.primary = rules::ReadText(value, field, report).value_or("");
              } else if (field == "addresses") {
                ReadAddresses(value, field, kSentinelPort, report, redis.servers);
              } else if (field == "username") {
                redis.sentinel_username = rules::ReadText(value, field, report).value_or("");
              } else {
                redis.sentinel_password_file = ReadPasswordFile(value, folder, report);
              }
            });
  if (redis.primary.empty() || redis.servers.empty()) {
    report.Fail(node,
                "sentinel needs the primary's name and the Sentinels: write sentinel: {primary: "
                "mymaster, addresses: [a.example:26379, b.example:26379]}");
  }
}

RedisConfig ReadRedis(const YamlNode& node, const std::filesystem::path& folder, Reporter& report) {
  RedisConfig redis;
  int servers_named = 0;
  const YamlNode* database = nullptr;
  EachField(node, "redis", kRedisFields, report,
            [&](std::string_view field, const YamlNode& value) {
              if (field == "password") {
                report.Fail(value,
                            "a password must be in a file of its own, where it can be "
                            "changed: write password_file: FILE");
              } else if (field == "address") {
                ++servers_named;
                ReadAddress(value, kRedisPort, report, redis.servers);
              } else if (field == "sentinel") {
                ++servers_named;
                redis.kind = RedisKind::kSentinel;
                ReadSentinel(value, folder, report, redis);
              } else if (field == "cluster") {
                ++servers_named;
                redis.kind = RedisKind::kCluster;
                ReadAddresses(value, field, kRedisPort, report, redis.servers);
              } else if (field == "username") {
                redis.username = rules::ReadText(value, field, report).value_or("");
              } else if (field == "password_file") {
                redis.password_file = ReadPasswordFile(value, folder, report);
              } else if (field == "tls") {
                redis.tls = ReadClientTls(value, folder, report);
              } else if (field == "database") {
                database = &value;
                ReadCount(value, field, 0, 1'000'000, report, redis.database);
              } else if (field == "lease") {
                EachField(value, field, kLeaseFields, report,
                          [&](std::string_view keys, const YamlNode& count) {
                            ReadCount(count, keys, 0, kMostLeaseKeys, report, redis.lease_keys);
                          });
              } else if (const auto timeout = rules::ReadDuration(value, field, report)) {
                redis.timeout = *timeout;
                if (*timeout < std::chrono::milliseconds(1) || *timeout > kLongestTimeout) {
                  report.Fail(value,
                              "timeout must be 1ms to 10s: after it, a request is answered by "
                              "its rules' on_store_error");
                }
              }
            });
  if (servers_named != 1) {
    report.Fail(node, std::string("redis needs one of address, sentinel and cluster: ") + "write " +
                          std::string(kExample));
  }
  if (database != nullptr && redis.kind == RedisKind::kCluster && redis.database != 0) {
    report.Fail(*database, "a cluster has only database 0: leave database out");
  }
  if (!redis.username.empty() && redis.password_file.empty()) {
    report.Fail(node, "redis has a username but no password_file: Redis needs both");
  }
  return redis;
}

}  // namespace

std::optional<RedisConfig> ReadStore(const YamlNode& node, const std::filesystem::path& folder,
                                     Reporter& report) {
  std::optional<RedisConfig> redis;
  if (node.is_text() && node.text == "table") {
    return redis;
  }
  if (!node.is_map()) {
    report.Fail(node,
                "store must be table or a Redis: write store: table or " + std::string(kExample));
    return redis;
  }
  EachField(node, "store", kStoreFields, report, [&](std::string_view, const YamlNode& value) {
    redis = ReadRedis(value, folder, report);
  });
  if (!redis) {
    report.Fail(node, "store is empty: write store: table or " + std::string(kExample));
  }
  return redis;
}

Result<std::shared_ptr<const net::TlsContext>> LoadClientTls(const ClientTlsConfig& tls) {
  net::TlsClientSettings settings{.verify_name = !tls.any_name};
  const std::array<std::pair<const std::string*, std::optional<net::PemFile>*>, 3> files{
      {{&tls.ca, &settings.ca}, {&tls.cert, &settings.certificate}, {&tls.key, &settings.key}}};
  for (const auto& [path, file] : files) {
    if (path->empty()) {
      continue;
    }
    auto text = ReadFile(*path);
    if (!text) {
      return tl::unexpected(text.error());
    }
    *file = net::PemFile{.path = *path, .text = *std::move(text)};
  }
  return net::TlsContext::Client(settings);
}

}  // namespace sluice::app
