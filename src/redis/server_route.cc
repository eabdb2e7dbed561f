#include "redis/server_route.h"

#include <vector>

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

void ServerRoute::ListBans(store::BansCall& call, Time /*now*/) {
  BanListing::Begin(call, *this, std::vector(1, net::DialTarget{}));
}

void ServerRoute::SendPage(BanPage& page) {
  link_.channel().AskBanPage(page, std::chrono::steady_clock::now());
  link_.Kick();
}

}  // namespace sluice::redis
