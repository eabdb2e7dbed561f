#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "net/dial.h"
#include "net/timer_wheel.h"
#include "redis/channel.h"
#include "redis/opening.h"
#include "redis/route.h"
#include "redis/sentinel_watch.h"

namespace sluice::net {
class EventLoop;
}  // namespace sluice::net

namespace sluice::redis {

struct RedisSettings {
  // Where the keys are: one server, or whichever the Sentinels name, or a cluster that has one of
  // these.
  net::DialTarget target;
  SentinelSettings sentinel{};
  std::vector<net::DialTarget> cluster{};
  std::string username{};
  std::string password_file{};  // Read at every dial, so that passwords can be changed; "": none.
  std::string password{};       // Where there is no file.
  OpeningSettings opening{};
  bool count_nodes = false;  // Whether this node counts itself among those that share the Redis.
  // Gets the secret that all nodes of this Redis share; none: it is not asked for.
  std::function<void(std::string_view secret)> on_secret{};
  Duration secret_every = std::chrono::minutes(1);  // How often it is asked for once it is known.
  ChannelSettings channel{};
};

// Carries a channel's bytes between an event loop and a server: connects when the channel asks for
// it, collects the calls of one turn of the loop into one write, and keeps the channel's time. One
// thread, the loop's.
class Link final : public Peer {
 public:
  // Dials soon; without a target when there is one. All of these outlive it. `on_lost` is called
  // whenever a connection ended or there was none to be had; it may be empty, and may Aim().
  Link(net::EventLoop& loop, const RedisSettings& settings, std::optional<net::DialTarget> target,
       const base::Clock& clock, RedisMetrics& metrics, const Channel::OnEvent& on_event,
       std::function<void()> on_lost);
  ~Link() override;
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;

  [[nodiscard]] Channel& channel() override { return channel_; }
  [[nodiscard]] const Channel& channel() const { return channel_; }
  // From now on that is the server. Where it was another, that one's replies are still read.
  void Aim(const net::DialTarget& target);
  // Nothing until it is known.
  [[nodiscard]] const std::optional<net::DialTarget>& target() const { return target_; }
  // After verbs were called: what they wrote leaves at the end of this turn.
  void Kick() override;
  [[nodiscard]] bool RunsHere() const;

 private:
  class Connection;
  struct Life;  // Tells posted work that the link is gone.

  void Pump();
  void StartDial();
  void Begin(std::unique_ptr<net::Transport> transport);
  void Drop(std::string_view why);
  void ArmWake();

  net::EventLoop& loop_;
  const RedisSettings& settings_;
  std::optional<net::DialTarget> target_;
  const std::function<void()> on_lost_;
  Channel channel_;
  net::Timer wake_;
  Channel::Time wake_at_ = Channel::Time::max();
  bool kicked_ = false;
  std::unique_ptr<Opening> opening_;
  std::shared_ptr<Connection> connection_;
  std::shared_ptr<Life> life_;
};

// The way to the servers that `settings` name, over links of `loop`. All outlive it.
[[nodiscard]] std::unique_ptr<Route> MakeRoute(net::EventLoop& loop, const RedisSettings& settings,
                                               const base::Clock& clock, RedisMetrics& metrics,
                                               const Channel::OnEvent& on_event);

}  // namespace sluice::redis
