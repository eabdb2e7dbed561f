#include <algorithm>
#include <array>
#include <chrono>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "envoy_environment.h"
#include "store_config.h"

namespace sluice::app {

namespace {

struct UnheededOfRedis {
  std::string_view name;  // Behind REDIS_ or REDIS_PERSECOND_.
  std::string_view reason;
};
constexpr std::string_view kPipelined = "each worker thread has one connection with pipelining";
constexpr std::string_view kNeverWaits =
    "Sluice starts without Redis and connects when it is available";
constexpr auto kUnheededOfRedis = std::to_array<UnheededOfRedis>({
    {"POOL_SIZE", kPipelined},
    {"POOL_ON_EMPTY_BEHAVIOR", kPipelined},
    {"PIPELINE_WINDOW", kPipelined},
    {"PIPELINE_LIMIT", kPipelined},
    {"CLUSTER_PIPELINE_PARALLELISM", kPipelined},
    {"STARTUP_INITIAL_INTERVAL", kNeverWaits},
    {"STARTUP_MAX_INTERVAL", kNeverWaits},
    {"STARTUP_MAX_ELAPSED_TIME", kNeverWaits},
    {"HEALTH_CHECK_ACTIVE_CONNECTION",
     "health does not depend on Redis: see the metric sluice_redis_connections_up"},
});

constexpr std::size_t kLongestJitterS = 100UL * 365 * 86'400;

std::vector<std::string> Split(const std::string& text) {
  std::vector<std::string> items;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    items.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return items;
}

std::string Lower(std::string text) {
  std::ranges::transform(text, text.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return text;
}

// The variables of one Redis: REDIS_… or REDIS_PERSECOND_….
class OneRedis {
 public:
  OneRedis(EnvironmentReader& read, std::string prefix) : read_(read), prefix_(std::move(prefix)) {}

  RedisConfig Read() {
    RedisConfig config{.is_shared = true};
    ReadServers(config);
    std::tie(config.username, config.password) = ReadAuth("AUTH");
    if (config.kind == RedisKind::kSentinel) {
      std::tie(config.sentinel_username, config.sentinel_password) = ReadAuth("SENTINEL_AUTH");
    }
    ReadTls(config);
    const Duration dial = read_.Time(Name("TIMEOUT"), config.dial_timeout);
    config.dial_timeout = dial == Duration::zero() ? config.dial_timeout : dial;
    return config;
  }

  [[nodiscard]] std::string Name(std::string_view end) const { return prefix_ + std::string(end); }

 private:
  void ReadServers(RedisConfig& config) {
    const std::string url = read_.Text(Name("URL"), "");
    const std::string type = read_.Text(Name("TYPE"), "SINGLE");
    std::vector<std::string> items = Split(url);
    if (Lower(type) == "single") {
      items = {url};
    } else if (Lower(type) == "cluster") {
      config.kind = RedisKind::kCluster;
    } else if (Lower(type) == "sentinel") {
      config.kind = RedisKind::kSentinel;
      config.primary = items.front();
      items.erase(items.begin());
      if (items.empty() || config.primary.empty()) {
        read_.Fail(Name("URL"), url, "names no Sentinel: write mymaster,a.example:26379");
      }
    } else {
      read_.Fail(Name("TYPE"), type, "is none of SINGLE, SENTINEL, CLUSTER");
    }
    for (const std::string& item : items) {
      auto target =
          net::ParseDialTarget(item.starts_with('/') ? "unix:" + item : item,
                               config.kind == RedisKind::kSentinel ? kSentinelPort : kRedisPort);
      if (target) {
        config.servers.push_back(*std::move(target));
      } else {
        read_.Fail(Name("URL"), url, "is invalid: " + target.error().message);
      }
    }
  }

  // `pass` or `user:pass`.
  std::pair<std::string, std::string> ReadAuth(std::string_view name) {
    const std::string auth = read_.Text(Name(name), "");
    const std::size_t colon = auth.find(':');
    if (colon == std::string::npos) {
      return {"", auth};
    }
    return {auth.substr(0, colon), auth.substr(colon + 1)};
  }

  void ReadTls(RedisConfig& config) {
    if (!read_.Bool(Name("TLS"), false)) {
      return;
    }
    ClientTlsConfig tls{.ca = read_.Text("REDIS_TLS_CACERT", ""),
                        .cert = read_.Text("REDIS_TLS_CLIENT_CERT", ""),
                        .key = read_.Text("REDIS_TLS_CLIENT_KEY", ""),
                        .server_name = {},
                        .any_name = read_.Bool("REDIS_TLS_SKIP_HOSTNAME_VERIFICATION", false)};
    if (const auto loaded = LoadClientTls(tls); !loaded) {
      read_.Fail(Name("TLS"), "true", "cannot be had: " + loaded.error().Text());
    }
    config.tls = std::move(tls);
  }

  EnvironmentReader& read_;
  const std::string prefix_;
};

void ReadTimeout(EnvironmentReader& read, RedisConfig& config) {
  constexpr Duration kLongest = std::chrono::seconds(10);
  config.timeout = read.Time("SLUICE_REDIS_TIMEOUT", config.timeout);
  if (config.timeout < std::chrono::milliseconds(1) || config.timeout > kLongest) {
    read.Fail("SLUICE_REDIS_TIMEOUT", read.Text("SLUICE_REDIS_TIMEOUT", ""), "is not 1ms to 10s");
  }
}

}  // namespace

void ReadRedisEnvironment(EnvironmentReader& read, DaemonConfig& config) {
  if (!config.names_store && !read.Text("REDIS_URL", "").empty()) {
    config.redis = OneRedis(read, "REDIS_").Read();
    ReadTimeout(read, *config.redis);
    if (read.Bool("REDIS_PERSECOND", false)) {
      OneRedis seconds(read, "REDIS_PERSECOND_");
      if (read.Text(seconds.Name("URL"), "").empty()) {
        read.Fail("REDIS_PERSECOND", "true", "needs REDIS_PERSECOND_URL");
      } else {
        config.redis_seconds = seconds.Read();
        config.redis_seconds->timeout = config.redis->timeout;
      }
    }
  }
  for (std::optional<RedisConfig>* const redis : {&config.redis, &config.redis_seconds}) {
    if (*redis) {
      (*redis)->expiry_jitter_s = static_cast<std::int64_t>(
          read.Number("EXPIRATION_JITTER_MAX_SECONDS",
                      static_cast<std::size_t>((*redis)->expiry_jitter_s), kLongestJitterS));
    }
  }
}

std::string_view WhyUnheededOfRedis(std::string_view name, const DaemonConfig& config) {
  constexpr std::string_view kNoRedis = "REDIS_URL is not set: counters are in this process";
  if (name == "CACHE_KEY_PREFIX" || name == "EXPIRATION_JITTER_MAX_SECONDS") {
    return config.redis ? "" : kNoRedis;
  }
  if (!name.starts_with("REDIS_")) {
    return "";
  }
  if (config.names_store) {
    return "the configuration file sets the store";
  }
  if (!config.redis) {
    return kNoRedis;
  }
  if (name.starts_with("REDIS_PERSECOND_") && !config.redis_seconds) {
    return "REDIS_PERSECOND is not true";
  }
  const auto* const row = std::ranges::find_if(
      kUnheededOfRedis,
      [name](const UnheededOfRedis& known) { return name.ends_with(known.name); });
  return row == kUnheededOfRedis.end() ? "" : row->reason;
}

}  // namespace sluice::app
