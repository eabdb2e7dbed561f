#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "sluice/time.h"

#include "base/random.h"
#include "net/dial.h"
#include "redis/channel.h"
#include "redis/route.h"
#include "redis/slot_map.h"

namespace sluice::redis {

// The servers of a Redis Cluster, and which of them owns which slot. Asks for the owners when a
// first server is connected, when one sends a call away (MOVED), while an owner is away or does not
// answer, and now and then. At most kMostNodes. One thread.
class ClusterNodes {
 public:
  using Time = Channel::Time;

  struct Node {
    net::DialTarget target;
    std::unique_ptr<Peer> peer;
    bool listed = false;         // It owns slots, or that is not known yet.
    Time needed_until{};         // It owns nothing, but a slot is moving there.
    Time drop_by = Time::max();  // It owns nothing, and has not answered all that it was asked.

    [[nodiscard]] Channel& channel() const { return peer->channel(); }
    [[nodiscard]] bool IsNeeded(Time now) const { return listed || now < needed_until; }
  };
  static constexpr Duration kRefreshEvery = std::chrono::seconds(30);
  static constexpr Duration kRefreshInTrouble = std::chrono::milliseconds(200);
  static constexpr Duration kRefreshAtOnce = std::chrono::milliseconds(20);

  // Begins with `seeds`. Channels redirect to `redirector`. `on_due`: refresh_at() is earlier now.
  // Both outlive it.
  ClusterNodes(Environment& environment, std::vector<net::DialTarget> seeds, std::uint64_t seed,
               Redirector& redirector, std::function<void()> on_due);

  // Never empty.
  [[nodiscard]] const std::vector<std::unique_ptr<Node>>& all() const { return nodes_; }
  // If its owner is unknown, any connected server: that one sends calls to where they belong.
  [[nodiscard]] Node& OwnerOf(std::uint16_t slot) const;
  [[nodiscard]] bool OwnsAny(const Node& node) const;
  [[nodiscard]] Node& NodeOf(const Channel& channel) const;
  // nullptr: too many are known.
  [[nodiscard]] Node* NodeAt(const net::DialTarget& target);

  void Join(const std::string& member, std::atomic<int>& members);
  // A server said so: `node` owns the slot.
  void SetOwner(std::uint16_t slot, Node& node);
  void OnTopology(const Channel& from, Reply reply);
  // A channel came up or went down, or left calls without an answer.
  void OnState(Channel& from);

  // When Refresh() is due.
  [[nodiscard]] Time refresh_at() const { return refresh_at_; }
  // Asks who owns what, and lets those go that own nothing. Not while a node's channel calls.
  void Refresh();
  // Asks at the latest `wait` from now, at a moment drawn from half of that up.
  void RefreshAfter(Duration wait);

  // Every server that owns something is connected.
  [[nodiscard]] bool up() const;

 private:
  static constexpr std::size_t kMostNodes = 1024;

  void AddSeeds();
  void DropUnlisted();
  // As soon as the state of the nodes makes it worth while.
  void RefreshInTime();

  Environment& environment_;
  const std::vector<net::DialTarget> seeds_;
  Redirector& redirector_;
  const std::function<void()> on_due_;
  base::Random random_;
  std::string member_;
  std::atomic<int>* members_ = nullptr;
  std::vector<std::unique_ptr<Node>> nodes_;
  std::vector<Node*> owners_;  // By slot; nullptr: not known.
  bool known_ = false;         // Some server has said who owns what.
  std::size_t next_asked_ = 0;
  Time refresh_at_ = Time::max();
};

}  // namespace sluice::redis
