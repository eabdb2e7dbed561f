#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/random.h"
#include "net/event_loop.h"
#include "redis/ban_listing.h"
#include "redis/check_request.h"
#include "redis/cluster_route.h"
#include "redis/link.h"
#include "redis/sentinel_watch.h"

// Routes over links of an event loop.
namespace sluice::redis {

namespace {

// The way to one server: always the same, or the one that the Sentinels say is the primary.
class ServerRoute final : public Route, private BanListing::Sender {
 public:
  // All outlive it.
  ServerRoute(net::EventLoop& loop, const RedisSettings& settings, const base::Clock& clock,
              RedisMetrics& metrics, const Channel::OnEvent& on_event);

  void Check(store::CheckCall& call, Time now) override {
    link_.channel().Send(Request::Of<CheckVerb>(call), now);
  }
  void Send(const Request& request, Time now) override { link_.channel().Send(request, now); }
  void ListBans(store::BansCall& call, Time now) override;
  void Kick() override { link_.Kick(); }
  void Join(const std::string& member, std::atomic<int>& nodes) override {
    link_.channel().Join(member, nodes);
  }
  [[nodiscard]] bool RunsHere() const override { return link_.RunsHere(); }
  [[nodiscard]] Channel& ChannelForTest() override { return link_.channel(); }
  [[nodiscard]] bool up() const override { return link_.channel().up(); }
  [[nodiscard]] bool idle() const override { return link_.channel().idle(); }

 private:
  void SendPage(BanPage& page) override;

  Link link_;
  std::unique_ptr<SentinelWatch> sentinels_;  // nullptr: the server is known.
};

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
  link_.channel().Send(Request::Of<BanPageVerb>(page), std::chrono::steady_clock::now(),
                       BanPage::kWithin);
  link_.Kick();
}

// Servers over links of an event loop.
class LoopEnvironment final : public Environment {
 public:
  // All outlive it.
  LoopEnvironment(net::EventLoop& loop, const RedisSettings& settings, const base::Clock& clock,
                  RedisMetrics& metrics, const Channel::OnEvent& on_event);

  std::unique_ptr<Peer> To(const net::DialTarget& target, std::function<void()> on_lost) override;
  [[nodiscard]] Channel::Time Now() const override;
  void WakeAt(Channel::Time when, Sleeper& sleeper) override;
  std::uint64_t DrawId() override;
  [[nodiscard]] bool RunsHere() const override;

 private:
  net::EventLoop& loop_;
  const RedisSettings& settings_;
  const base::Clock& clock_;
  RedisMetrics& metrics_;
  const Channel::OnEvent& on_event_;
  Sleeper* sleeper_ = nullptr;
  net::Timer timer_;
};

LoopEnvironment::LoopEnvironment(net::EventLoop& loop, const RedisSettings& settings,
                                 const base::Clock& clock, RedisMetrics& metrics,
                                 const Channel::OnEvent& on_event)
    : loop_(loop),
      settings_(settings),
      clock_(clock),
      metrics_(metrics),
      on_event_(on_event),
      timer_([this] { sleeper_->OnWake(Now()); }) {}

std::unique_ptr<Peer> LoopEnvironment::To(const net::DialTarget& target,
                                          std::function<void()> on_lost) {
  return std::make_unique<Link>(loop_, settings_, target, clock_, metrics_, on_event_,
                                std::move(on_lost));
}

Channel::Time LoopEnvironment::Now() const {
  return std::chrono::steady_clock::now();
}

void LoopEnvironment::WakeAt(Channel::Time when, Sleeper& sleeper) {
  sleeper_ = &sleeper;
  loop_.Arm(timer_, when, net::TimerPrecision::kExact);
}

std::uint64_t LoopEnvironment::DrawId() {
  return base::UniqueNumber();
}

bool LoopEnvironment::RunsHere() const {
  return loop_.context().get_executor().running_in_this_thread();
}

}  // namespace

std::unique_ptr<Route> MakeRoute(net::EventLoop& loop, const RedisSettings& settings,
                                 const base::Clock& clock, RedisMetrics& metrics,
                                 const Channel::OnEvent& on_event) {
  if (settings.cluster.empty()) {
    return std::make_unique<ServerRoute>(loop, settings, clock, metrics, on_event);
  }
  return std::make_unique<ClusterRoute>(
      std::make_unique<LoopEnvironment>(loop, settings, clock, metrics, on_event), settings.cluster,
      settings.channel.deadline, metrics, base::UniqueNumber());
}

}  // namespace sluice::redis
