#pragma once

#include <atomic>
#include <deque>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "net/timer_wheel.h"
#include "redis/ban_listing.h"
#include "redis/link.h"
#include "redis/route.h"
#include "redis/slot_map.h"
#include "redis/spanning_call.h"

namespace sluice::redis {

// The way to a Redis Cluster: a link to each server that owns slots, calls sent to the owner of
// their keys' slot. Requests over several slots are SpanningCall's.
//
// Who owns what is asked when a first server is there, when one sends a call away (MOVED), while an
// owner is away, and now and then. A call that is sent away goes where it is sent, as often as
// Channel's bound says; one whose keys are just moving (TRYAGAIN) is sent again after a moment;
// both did not run. Memory is bounded: kMostNodes links, and of calls what the channels take.
class ClusterRoute final : public Route,
                           private Redirector,
                           private SpanningCall::Sender,
                           private BanListing::Sender {
 public:
  // All outlive it.
  ClusterRoute(net::EventLoop& loop, const RedisSettings& settings, const base::Clock& clock,
               RedisMetrics& metrics, const Channel::OnEvent& on_event);
  ~ClusterRoute() override;

  void Check(store::CheckCall& call, Time now) override;
  void Send(Channel::Kind kind, store::StoreCall& call, core::KeyView& key, Time now) override;
  void ListBans(store::BansCall& call, Time now) override;
  void Count(CounterCall& call, Time now) override;
  void Record(store::RecordCall& call, Time now) override;
  void Kick() override {}  // Every call kicks its own link.
  void Join(const std::string& member, std::atomic<int>& nodes) override;
  [[nodiscard]] bool RunsHere() const override { return nodes_.front()->link->RunsHere(); }
  [[nodiscard]] Channel& ChannelForTest() override { return nodes_.front()->link->channel(); }
  [[nodiscard]] bool up() const override;
  [[nodiscard]] bool idle() const override;

 private:
  struct Node {
    std::unique_ptr<Link> link;
    bool listed = false;  // It owns slots, or nobody knows yet.
  };
  // A call that waits for its keys to have moved.
  struct Delayed {
    Channel::Command command;
    Time at;
  };

  static constexpr std::size_t kMostNodes = 1024;
  static constexpr std::size_t kMostDelayed = 4096;

  // Redirector
  bool OnSentAway(Channel& from, Channel::Command& command, std::string_view error,
                  Time now) override;
  void OnTopology(Channel& from, std::span<const wire::RespNode> reply, Time now) override;
  void OnState(Channel& from, Time now) override;

  // BanListing::Sender
  void SendPage(BanPage& page) override;

  // SpanningCall::Sender
  void SendPart(SpanningCall::Part& part) override;
  void SendUndo(const SpanningCall::Part& part) override;
  void OnSpanned(SpanningCall& call) override;

  void SendOne(Channel::Kind kind, store::StoreCall& call, std::uint16_t slot, Time now);
  void SendTo(Node& node, Channel::Command command, Time now);
  [[nodiscard]] Node& OwnerOf(std::uint16_t slot);
  // nullptr: too many are known.
  [[nodiscard]] Node* NodeAt(const net::DialTarget& target);
  [[nodiscard]] Node& NodeOf(const Channel& channel);
  void AddSeeds();
  void DropUnlisted();
  // Asks who owns what, at the earliest `wait` from now.
  void RefreshAfter(Duration wait);
  void Refresh();
  void SendDelayed();

  net::EventLoop& loop_;
  const RedisSettings& settings_;
  const base::Clock& clock_;
  RedisMetrics& metrics_;
  const Channel::OnEvent& on_event_;
  std::minstd_rand random_;
  std::string member_;
  std::atomic<int>* members_ = nullptr;
  std::vector<std::unique_ptr<Node>> nodes_;  // Never empty.
  std::vector<Node*> owners_;                 // By slot; nullptr: nobody is known.
  bool known_ = false;                        // Who owns what was told.
  bool closing_ = false;
  std::size_t next_asked_ = 0;
  std::vector<std::unique_ptr<SpanningCall>> spanning_;
  std::vector<SpanningCall*> free_spanning_;
  std::vector<std::uint16_t> slots_;  // Room.
  std::deque<Delayed> delayed_;
  net::Timer refresh_;
  net::SteadyTime refresh_at_ = net::SteadyTime::max();
  net::Timer retry_;
};

}  // namespace sluice::redis
