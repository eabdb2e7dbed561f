#include "redis/server_route.h"

namespace sluice::redis {

ServerRoute::ServerRoute(net::EventLoop& loop, const RedisSettings& settings,
                         const base::Clock& clock, RedisMetrics& metrics,
                         const Channel::OnEvent& on_event)
    : link_(loop, settings,
            settings.sentinel.sentinels.empty() ? std::optional(settings.target) : std::nullopt,
            clock, metrics, on_event, [this] {
              if (sentinels_ != nullptr) {
                sentinels_->AskAnew();
              }
            }) {
  if (!settings.sentinel.sentinels.empty()) {
    sentinels_ = std::make_unique<SentinelWatch>(
        loop, settings.sentinel, settings.opening,
        [this](const net::DialTarget& primary) { link_.Aim(primary); },
        [&on_event](const std::string& text) { on_event(false, text); });
  }
}

}  // namespace sluice::redis
