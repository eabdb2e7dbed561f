#include "open_redis.h"

#include <algorithm>
#include <chrono>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "net/timer_wheel.h"

namespace sluice::app {

namespace {

// Every loop has its own connection, and reports the same when Redis becomes unreachable: said
// once.
class EventLog {
 public:
  void Write(bool good, const std::string& text) {
    constexpr auto kSame = std::chrono::seconds(1);
    const auto now = std::chrono::steady_clock::now();
    {
      const std::lock_guard lock(mutex_);
      if (text == last_ && now - last_at_ < kSame) {
        return;
      }
      last_ = text;
      last_at_ = now;
    }
    if (good) {
      spdlog::info("{}", text);
    } else {
      spdlog::warn("{}", text);
    }
  }

 private:
  std::mutex mutex_;
  std::string last_;
  std::chrono::steady_clock::time_point last_at_{};
};

redis::RedisSettings SettingsOf(const RedisConfig& config) {
  redis::RedisSettings settings;
  switch (config.kind) {
    case RedisKind::kServer:
      settings.target = config.servers.front();
      break;
    case RedisKind::kSentinel:
      settings.sentinel = {.sentinels = config.servers,
                           .primary = config.primary,
                           .username = config.sentinel_username,
                           .password_file = config.sentinel_password_file,
                           .password = config.sentinel_password};
      break;
    case RedisKind::kCluster:
      settings.cluster = config.servers;
      break;
  }
  settings.username = config.username;
  settings.password_file = config.password_file;
  settings.password = config.password;
  settings.count_nodes = !config.is_shared;
  // The last step that is not too late: an answer is due by the deadline, a timer rounds up.
  settings.channel.deadline = std::max(config.timeout - net::kTimerStep, Duration(net::kTimerStep));
  settings.channel.database = static_cast<int>(config.database);
  settings.channel.terse = config.is_shared;
  settings.channel.expiry_jitter_s = config.expiry_jitter_s;
  settings.opening.timeout = config.dial_timeout;
  if (config.tls) {
    settings.opening.tls = [tls = *config.tls] { return LoadClientTls(tls); };
    settings.opening.tls_name = config.tls->server_name;
  }
  return settings;
}

}  // namespace

std::unique_ptr<redis::RedisStore> MakeRedisStore(
    const RedisConfig& config, const RedisConfig* seconds, const base::Clock& clock,
    std::function<void(std::string_view secret)> on_secret) {
  redis::RedisSettings settings = SettingsOf(config);
  settings.on_secret = std::move(on_secret);
  return std::make_unique<redis::RedisStore>(
      std::move(settings), clock,
      [log = std::make_shared<EventLog>()](bool good, const std::string& text) {
        log->Write(good, text);
      },
      seconds == nullptr ? std::nullopt : std::optional(SettingsOf(*seconds)));
}

std::string Describe(const RedisConfig& config) {
  std::string text = "redis ";
  if (config.kind == RedisKind::kSentinel) {
    text += config.primary + " by Sentinel ";
  } else if (config.kind == RedisKind::kCluster) {
    text += "cluster ";
  }
  for (std::size_t i = 0; i < config.servers.size(); ++i) {
    text += (i == 0 ? "" : ", ") + config.servers[i].Text();
  }
  return text + (config.tls ? ", TLS" : "");
}

}  // namespace sluice::app
