#pragma once

#include <memory>

#include "redis/ban_listing.h"
#include "redis/link.h"
#include "redis/route.h"
#include "redis/sentinel_watch.h"

namespace sluice::redis {

// The way to one server: always the same, or the one that the Sentinels say is the primary.
class ServerRoute final : public Route, private BanListing::Sender {
 public:
  // All outlive it.
  ServerRoute(net::EventLoop& loop, const RedisSettings& settings, const base::Clock& clock,
              RedisMetrics& metrics, const Channel::OnEvent& on_event);

  void Check(store::CheckCall& call, Time now) override {
    link_.channel().Send(Channel::Kind::kCheck, call, now);
  }
  void Send(Channel::Kind kind, store::StoreCall& call, core::KeyView& /*key*/, Time now) override {
    link_.channel().Send(kind, call, now);
  }
  void ListBans(store::BansCall& call, Time now) override;
  void Count(CounterCall& call, Time now) override {
    link_.channel().Send(Channel::Kind::kCounter, call, now);
  }
  void Record(store::RecordCall& call, Time now) override {
    link_.channel().Send(Channel::Kind::kRecord, call, now);
  }
  void Secret(SecretCall& call, Time now) override {
    link_.channel().Send(Channel::Kind::kSecret, call, now);
  }
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

}  // namespace sluice::redis
