#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "core/quota.h"
#include "net/event_loop.h"
#include "redis/redis_store.h"
#include "support/manual_clock.h"
#include "support/redis_server.h"

namespace sluice::support {

// Settings for a test on a busy machine: whoever tests deadlines sets his own.
inline redis::RedisSettings PatientSettings(const RedisServer& server) {
  redis::RedisSettings settings;
  settings.target.path = server.socket_path();
  settings.channel.deadline = std::chrono::seconds(20);
  return settings;
}

// So many a year: no test meets the edge of its windows.
inline core::Quota YearlyOf(Units limit,
                            core::Algorithm algorithm = core::Algorithm::kFixedWindow) {
  core::Quota quota;
  quota.algorithm = algorithm;
  quota.limit = quota.rate = limit;
  quota.window = std::chrono::hours(24 * 365);
  return quota;
}

// A RedisStore with one loop, which the test runs.
class LoopedRedisStore {
 public:
  LoopedRedisStore(redis::RedisSettings settings, const base::Clock& clock,
                   std::optional<redis::RedisSettings> seconds = std::nullopt)
      : store_(
            std::move(settings), clock,
            [this](bool good, const std::string& text) {
              events_ += (good ? "+ " : "- ") + text + "\n";
            },
            std::move(seconds)),
        attachment_(store_.Attach(loop_)) {}

  redis::RedisStore& store() { return store_; }
  redis::Route& route() { return attachment_->route(); }
  redis::Channel& channel() { return route().ChannelForTest(); }
  net::EventLoop& loop() { return loop_; }
  [[nodiscard]] const std::string& events() const { return events_; }

  // Runs the loop until `done`.
  template <class Done>
  void RunUntil(Done done) {
    while (!done()) {
      loop_.RunOne();
    }
  }
  // The next event: for who asks again and again, and may be answered without any.
  void RunOne() { loop_.RunOne(); }
  void RunUntilUp() {
    RunUntil([this] { return route().up(); });
  }
  void RunUntilIdle() {
    RunUntil([this] { return route().idle(); });
  }

 private:
  std::string events_;
  net::EventLoop loop_;
  redis::RedisStore store_;
  std::unique_ptr<redis::RedisStore::Attachment> attachment_;
};

}  // namespace sluice::support
