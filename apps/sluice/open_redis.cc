#include "open_redis.h"

#include <chrono>
#include <mutex>
#include <string>

#include <fmt/format.h>
#include <spdlog/spdlog.h>

namespace sluice::app {

namespace {

// Every loop has a connection of its own, and tells the same when Redis goes: said once.
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

}  // namespace

std::unique_ptr<redis::RedisStore> MakeRedisStore(const RedisConfig& config,
                                                  const base::Clock& clock) {
  redis::RedisSettings settings;
  switch (config.kind) {
    case RedisKind::kServer:
      settings.target = config.servers.front();
      break;
    case RedisKind::kSentinel:
      settings.sentinel = {.sentinels = config.servers,
                           .primary = config.primary,
                           .username = config.sentinel_username,
                           .password_file = config.sentinel_password_file};
      break;
    case RedisKind::kCluster:
      settings.cluster = config.servers;
      break;
  }
  settings.username = config.username;
  settings.password_file = config.password_file;
  settings.count_nodes = true;
  settings.channel.deadline = config.timeout;
  settings.channel.database = static_cast<int>(config.database);
  if (config.tls) {
    settings.opening.tls = [tls = *config.tls] { return LoadClientTls(tls); };
    settings.opening.tls_name = config.tls->server_name;
  }
  return std::make_unique<redis::RedisStore>(
      std::move(settings), clock,
      [log = std::make_shared<EventLog>()](bool good, const std::string& text) {
        log->Write(good, text);
      });
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
