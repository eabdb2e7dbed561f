#pragma once

#include <atomic>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "net/dial.h"
#include "redis/ban_listing.h"
#include "redis/cluster_nodes.h"
#include "redis/route.h"
#include "redis/spanning_call.h"

namespace sluice::redis {

// The way to a Redis Cluster: calls go to the owner of their keys' slot, requests over several
// slots in parts (SpanningCall). A call that the owner sends away goes where it is sent, as often
// as Channel's bound says; one whose keys are just moving (TRYAGAIN) is sent again after a moment.
// cluster_route.cc explains why every call is answered once, in time and never charged twice.
// Without I/O, as Channel is. Memory is bounded: by ClusterNodes, and by what the channels take.
class ClusterRoute final : public Route,
                           private Redirector,
                           private Environment::Sleeper,
                           private SpanningCall::Sender,
                           private BanListing::Sender {
 public:
  // Begins with `seeds`. `deadline`: of a call; its own may be earlier. `metrics` outlives it.
  ClusterRoute(std::unique_ptr<Environment> environment, std::vector<net::DialTarget> seeds,
               Duration deadline, RedisMetrics& metrics, std::uint64_t seed);
  ~ClusterRoute() override;

  void Check(store::CheckCall& call, Time now) override;
  void Send(const Request& request, Time now) override;
  void ListBans(store::BansCall& call, Time now) override;
  void Kick() override {}  // Every call kicks its own peer.
  void Join(const std::string& member, std::atomic<int>& nodes) override {
    nodes_.Join(member, nodes);
  }
  [[nodiscard]] bool RunsHere() const override { return environment_->RunsHere(); }
  [[nodiscard]] Channel& ChannelForTest() override { return nodes_.all().front()->channel(); }
  [[nodiscard]] bool up() const override { return nodes_.up(); }
  [[nodiscard]] bool idle() const override;

 private:
  using Node = ClusterNodes::Node;
  // A call that waits for its keys to have moved.
  struct Delayed {
    Command command;
    Time at;
  };

  static constexpr std::size_t kMostDelayed = 4096;

  // Redirector
  bool OnSentAway(Channel& from, Command& command, std::string_view error, Time now) override;
  void OnTopology(Channel& from, Reply reply, Time now) override;
  void OnState(Channel& from, Time now) override;

  // Environment::Sleeper
  void OnWake(Time now) override;

  // BanListing::Sender
  void SendPage(BanPage& page) override;

  // SpanningCall::Sender
  void SendPart(SpanningCall::Part& part) override;
  store::RequestId DrawId() override { return environment_->DrawId(); }
  void SendUndo(const SpanningCall::Part& part) override;
  void OnSpanned(SpanningCall& call) override;

  void SendOne(const Request& request, std::uint16_t slot, Time now);
  void SendTo(Node& node, Command command, Time now);
  void SendDelayed(Time now);
  void ArmWake();

  const std::unique_ptr<Environment> environment_;
  const Duration deadline_;
  RedisMetrics& metrics_;
  ClusterNodes nodes_;
  bool closing_ = false;
  std::vector<std::unique_ptr<SpanningCall>> spanning_;
  std::vector<SpanningCall*> free_spanning_;
  std::vector<std::uint16_t> slots_;  // Room.
  std::deque<Delayed> delayed_;       // The next one first.
};

}  // namespace sluice::redis
