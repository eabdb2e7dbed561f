#pragma once

#include <atomic>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "base/random.h"
#include "net/dial.h"
#include "redis/ban_listing.h"
#include "redis/environment.h"
#include "redis/route.h"
#include "redis/slot_map.h"
#include "redis/spanning_call.h"

namespace sluice::redis {

// The way to a Redis Cluster: a peer for each server that owns slots, calls sent to the owner of
// their keys' slot. Requests over several slots are SpanningCall's. Without I/O, as Channel is.
//
// Who owns what is asked when a first server is there, when one sends a call away (MOVED), while an
// owner is away or does not answer, and now and then. A call that is sent away goes where it is
// sent, as often as Channel's bound says; one whose keys are just moving (TRYAGAIN) is sent again
// after a moment; both did not run. Memory is bounded: kMostNodes peers, and of calls what the
// channels take.
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
  void Send(Channel::Kind kind, store::StoreCall& call, core::KeyView& key, Time now) override;
  void ListBans(store::BansCall& call, Time now) override;
  void Count(CounterCall& call, Time now) override;
  void Record(store::RecordCall& call, Time now) override;
  void Secret(SecretCall& call, Time now) override;
  void Kick() override {}  // Every call kicks its own peer.
  void Join(const std::string& member, std::atomic<int>& nodes) override;
  [[nodiscard]] bool RunsHere() const override { return environment_->RunsHere(); }
  [[nodiscard]] Channel& ChannelForTest() override { return nodes_.front()->peer->channel(); }
  [[nodiscard]] bool up() const override;
  [[nodiscard]] bool idle() const override;

 private:
  struct Node {
    net::DialTarget target;
    std::unique_ptr<Peer> peer;
    bool listed = false;         // It owns slots, or nobody knows yet.
    Time needed_until{};         // It owns nothing, but a slot is moving there.
    Time drop_by = Time::max();  // It owns nothing, and has not answered all that it was asked.

    [[nodiscard]] bool IsNeeded(Time now) const { return listed || now < needed_until; }
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

  // Environment::Sleeper
  void OnWake(Time now) override;

  // BanListing::Sender
  void SendPage(BanPage& page) override;

  // SpanningCall::Sender
  void SendPart(SpanningCall::Part& part) override;
  store::RequestId DrawId() override { return environment_->DrawId(); }
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
  // As soon as how things are makes it worth while.
  void RefreshInTime();
  void Refresh();
  void SendDelayed(Time now);
  void ArmWake();

  const std::unique_ptr<Environment> environment_;
  const std::vector<net::DialTarget> seeds_;
  const Duration deadline_;
  RedisMetrics& metrics_;
  base::Random random_;
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
  std::deque<Delayed> delayed_;       // The next one first.
  Time refresh_at_ = Time::max();
};

}  // namespace sluice::redis
