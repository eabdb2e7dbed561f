#include "store_config.h"

#include <array>
#include <string_view>
#include <utility>

#include "config_fields.h"
#include "config_map.h"
#include "rules/value_reader.h"
#include "sources/files.h"

namespace sluice::app {

namespace {

using rules::Reporter;

constexpr std::string_view kExample = "store: {redis: {address: redis.example:6379}}";
constexpr Duration kLongestTimeout = std::chrono::seconds(10);

void ReadAddress(const yaml::Node& node, std::string_view default_port, Reporter& report,
                 std::vector<net::DialTarget>& targets) {
  if (const auto text = rules::ReadText(node, "address", report)) {
    if (auto target = net::ParseDialTarget(*text, default_port)) {
      targets.push_back(*std::move(target));
    } else {
      report.Fail(node, target.error().message);
    }
  }
}

void ReadAddresses(const yaml::Node& node, std::string_view field, std::string_view default_port,
                   Reporter& report, std::vector<net::DialTarget>& targets) {
  EachItem(node, field, report,
           [&](const yaml::Node& item) { ReadAddress(item, default_port, report, targets); });
  if (node.is_list() && node.items.empty()) {
    report.Fail(node, std::string(field) + " is empty: name at least one server");
  }
}

// A password is read again at every dial; that it can be read at all shows here.
std::string ReadPasswordFile(const yaml::Node& node, const std::filesystem::path& folder,
                             Reporter& report) {
  const auto text = rules::ReadText(node, "password_file", report);
  if (!text) {
    return {};
  }
  std::string path = (folder / *text).string();
  if (const auto read = sources::ReadFile(path); !read) {
    report.Fail(node, read.error().Text());
  }
  return path;
}

void ReadSentinel(const yaml::Node& node, const std::filesystem::path& folder, Reporter& report,
                  RedisConfig& redis) {
  const auto read_primary = [&](const yaml::Node& value) {
    redis.primary = rules::ReadText(value, "primary", report).value_or("");
  };
  const auto read_addresses = [&](const yaml::Node& value) {
    ReadAddresses(value, "addresses", kSentinelPort, report, redis.servers);
  };
  const auto read_username = [&](const yaml::Node& value) {
    redis.sentinel_username = rules::ReadText(value, "username", report).value_or("");
  };
  const auto read_password_file = [&](const yaml::Node& value) {
    redis.sentinel_password_file = ReadPasswordFile(value, folder, report);
  };
  const auto fields = std::to_array<FieldReader>({{"primary", read_primary},
                                                  {"addresses", read_addresses},
                                                  {"username", read_username},
                                                  {"password_file", read_password_file}});
  ReadFields(node, kSentinelMap, fields, report);
  if (redis.primary.empty() || redis.servers.empty()) {
    report.Fail(node,
                "sentinel needs the primary's name and the Sentinels: write sentinel: {primary: "
                "mymaster, addresses: [a.example:26379, b.example:26379]}");
  }
}

RedisConfig ReadRedis(const yaml::Node& node, const std::filesystem::path& folder,
                      Reporter& report) {
  RedisConfig redis;
  int servers_named = 0;
  const yaml::Node* database = nullptr;
  const auto read_address = [&](const yaml::Node& value) {
    ++servers_named;
    ReadAddress(value, kRedisPort, report, redis.servers);
  };
  const auto read_sentinel = [&](const yaml::Node& value) {
    ++servers_named;
    redis.kind = RedisKind::kSentinel;
    ReadSentinel(value, folder, report, redis);
  };
  const auto read_cluster = [&](const yaml::Node& value) {
    ++servers_named;
    redis.kind = RedisKind::kCluster;
    ReadAddresses(value, "cluster", kRedisPort, report, redis.servers);
  };
  const auto read_username = [&](const yaml::Node& value) {
    redis.username = rules::ReadText(value, "username", report).value_or("");
  };
  const auto refuse_password = [&](const yaml::Node& value) {
    report.Fail(value,
                "the configuration cannot contain a password: put it in a file, and name that file "
                "with password_file: FILE");
  };
  const auto read_password_file = [&](const yaml::Node& value) {
    redis.password_file = ReadPasswordFile(value, folder, report);
  };
  const auto read_database = [&](const yaml::Node& value) {
    database = &value;
    ReadCount(value, kRedisMap["database"], report, redis.database);
  };
  const auto read_timeout = [&](const yaml::Node& value) {
    const auto timeout = rules::ReadDuration(value, "timeout", report);
    redis.timeout = timeout.value_or(redis.timeout);
    if (timeout && (*timeout < std::chrono::milliseconds(1) || *timeout > kLongestTimeout)) {
      report.Fail(value,
                  "timeout must be 1ms to 10s: after it, a request is answered by its rules' "
                  "on_store_error");
    }
  };
  const auto read_lease_keys = [&](const yaml::Node& value) {
    ReadCount(value, kLeaseMap["keys"], report, redis.lease_keys);
  };
  const auto lease_fields = std::to_array<FieldReader>({{"keys", read_lease_keys}});
  const auto fields = std::to_array<FieldReader>(
      {{"address", read_address},
       {"sentinel", read_sentinel},
       {"cluster", read_cluster},
       {"username", read_username},
       {"password", refuse_password},
       {"password_file", read_password_file},
       {"tls", [&](const yaml::Node& value) { redis.tls = ReadClientTls(value, folder, report); }},
       {"database", read_database},
       {"timeout", read_timeout},
       {"lease",
        [&](const yaml::Node& value) { ReadFields(value, kLeaseMap, lease_fields, report); }}});
  ReadFields(node, kRedisMap, fields, report);
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

std::optional<RedisConfig> ReadStore(const yaml::Node& node, const std::filesystem::path& folder,
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
  const auto read_redis = [&](const yaml::Node& value) {
    redis = ReadRedis(value, folder, report);
  };
  ReadFields(node, kStoreMap, std::to_array<FieldReader>({{"redis", read_redis}}), report);
  if (!redis) {
    report.Fail(node, "store is empty: write store: table or " + std::string(kExample));
  }
  return redis;
}

ClientTlsConfig ReadClientTls(const yaml::Node& node, const std::filesystem::path& folder,
                              Reporter& report) {
  ClientTlsConfig tls;
  bool sound = node.is_map() || node.is_null();
  const auto text_into = [&](std::string_view field, std::string& into, bool is_path) {
    return FieldReader{field, [&, field, is_path](const yaml::Node& value) {
                         const auto text = rules::ReadText(value, field, report);
                         sound = sound && text && !text->empty();
                         if (text) {
                           into = is_path ? (folder / *text).string() : *text;
                         }
                       }};
  };
  const auto fields = std::to_array<FieldReader>(
      {text_into("ca", tls.ca, /*is_path=*/true), text_into("cert", tls.cert, /*is_path=*/true),
       text_into("key", tls.key, /*is_path=*/true),
       text_into("server_name", tls.server_name, /*is_path=*/false)});
  ReadFields(node, kRedisTlsMap, fields, report);
  if (tls.cert.empty() != tls.key.empty()) {
    report.Fail(node, "a client certificate needs its key: write tls: {cert: FILE, key: FILE}");
  } else if (sound) {
    if (const auto loaded = LoadClientTls(tls); !loaded) {
      report.Fail(node, loaded.error().Text());
    }
  }
  return tls;
}

Result<std::shared_ptr<const net::TlsContext>> LoadClientTls(
    const ClientTlsConfig& tls, const std::vector<std::string>& protocols) {
  net::TlsClientSettings settings{.protocols = protocols, .verify_name = !tls.any_name};
  const std::array<std::pair<const std::string*, std::optional<net::PemFile>*>, 3> files{
      {{&tls.ca, &settings.ca}, {&tls.cert, &settings.certificate}, {&tls.key, &settings.key}}};
  for (const auto& [path, file] : files) {
    if (path->empty()) {
      continue;
    }
    auto text = sources::ReadFile(*path);
    if (!text) {
      return tl::unexpected(text.error());
    }
    *file = net::PemFile{.path = *path, .text = *std::move(text)};
  }
  return net::TlsContext::Client(settings);
}

}  // namespace sluice::app
