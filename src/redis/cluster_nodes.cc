#include "redis/cluster_nodes.h"

#include <algorithm>
#include <utility>

namespace sluice::redis {

ClusterNodes::ClusterNodes(Environment& environment, std::vector<net::DialTarget> seeds,
                           std::uint64_t seed, Redirector& redirector, std::function<void()> on_due)
    : environment_(environment),
      seeds_(std::move(seeds)),
      redirector_(redirector),
      on_due_(std::move(on_due)),
      random_(seed),
      owners_(kClusterSlots, nullptr) {
  AddSeeds();
}

void ClusterNodes::AddSeeds() {
  for (const net::DialTarget& seed : seeds_) {
    if (Node* const node = NodeAt(seed)) {
      node->listed = true;
    }
  }
}

void ClusterNodes::Join(const std::string& member, std::atomic<int>& members) {
  member_ = member;
  members_ = &members;
  for (const auto& node : nodes_) {
    node->channel().Join(member, members);
  }
}

ClusterNodes::Node* ClusterNodes::NodeAt(const net::DialTarget& target) {
  const auto known =
      std::ranges::find_if(nodes_, [&](const auto& node) { return node->target == target; });
  if (known != nodes_.end()) {
    return known->get();
  }
  if (nodes_.size() >= kMostNodes) {
    return nullptr;
  }
  auto node = std::make_unique<Node>();
  node->target = target;
  node->peer = environment_.To(target, [this] { RefreshAfter(kRefreshInTrouble / 2); });
  node->channel().SetRedirector(redirector_);
  if (members_ != nullptr) {
    node->channel().Join(member_, *members_);
  }
  nodes_.push_back(std::move(node));
  return nodes_.back().get();
}

ClusterNodes::Node& ClusterNodes::NodeOf(const Channel& channel) const {
  return **std::ranges::find_if(nodes_,
                                [&](const auto& node) { return &node->channel() == &channel; });
}

ClusterNodes::Node& ClusterNodes::OwnerOf(std::uint16_t slot) const {
  if (Node* const owner = owners_[slot]) {
    return *owner;
  }
  const auto up =
      std::ranges::find_if(nodes_, [](const auto& node) { return node->channel().up(); });
  return up == nodes_.end() ? *nodes_.front() : **up;
}

bool ClusterNodes::OwnsAny(const Node& node) const {
  return std::ranges::find(owners_, &node) != owners_.end();
}

void ClusterNodes::SetOwner(std::uint16_t slot, Node& node) {
  owners_[slot] = &node;
  node.listed = true;
  RefreshAfter(kRefreshAtOnce);
}

void ClusterNodes::OnState(Channel& from) {
  if (from.up() && !known_) {
    from.AskTopology();
    NodeOf(from).peer->Kick();
  }
  RefreshInTime();
  if (from.silent()) {  // It may have a successor.
    RefreshAfter(kRefreshInTrouble);
  }
}

void ClusterNodes::RefreshInTime() {
  const Time now = environment_.Now();
  const bool settled = known_ && std::ranges::all_of(nodes_, [now](const auto& node) {
                         const Channel& channel = node->channel();
                         return node->IsNeeded(now) && channel.up() && !channel.breaker_open();
                       });
  RefreshAfter(settled ? kRefreshEvery : kRefreshInTrouble);
}

void ClusterNodes::RefreshAfter(Duration wait) {
  const Time at = environment_.Now() + Duration(random_.Between(wait.count() / 2, wait.count()));
  if (at < refresh_at_) {
    refresh_at_ = at;
    on_due_();
  }
}

void ClusterNodes::Refresh() {
  refresh_at_ = Time::max();
  DropUnlisted();
  bool asked = false;
  // Another each time: one of them may be cut off from the others.
  for (std::size_t i = 0; i < nodes_.size() && !asked; ++i) {
    Peer& peer = *nodes_[next_asked_++ % nodes_.size()]->peer;
    if (peer.channel().up() && !peer.channel().silent()) {
      peer.channel().AskTopology();
      peer.Kick();
      asked = true;
    }
  }
  if (!asked) {
    AddSeeds();
  }
  RefreshInTime();
}

void ClusterNodes::OnTopology(const Channel& from, Reply reply) {
  const auto map = ReadSlotMap(reply, NodeOf(from).target);
  if (!map || map->nodes.empty()) {
    return;
  }
  for (const auto& node : nodes_) {
    node->needed_until = node->listed ? Time() : node->needed_until;
    node->listed = false;
  }
  std::vector<Node*> nodes;
  nodes.reserve(map->nodes.size());
  for (const net::DialTarget& target : map->nodes) {
    nodes.push_back(NodeAt(target));
    if (nodes.back() != nullptr) {
      nodes.back()->listed = true;
    }
  }
  for (std::size_t slot = 0; slot < kClusterSlots; ++slot) {
    const std::uint16_t owner = map->owner[slot];
    owners_[slot] = owner == SlotMap::kNobody ? nullptr : nodes[owner];
  }
  known_ = true;
  RefreshInTime();  // Soon, if a node is to be dropped.
}

// A node that still answers something is kept for a while, but not for ever: it may have gone
// without closing its connection.
void ClusterNodes::DropUnlisted() {
  constexpr Duration kAnswersWithin = std::chrono::seconds(2);
  if (std::ranges::none_of(nodes_, [](const auto& node) { return node->listed; })) {
    return;
  }
  const Time now = environment_.Now();
  for (std::size_t i = 0; i < nodes_.size();) {
    Node& node = *nodes_[i];
    const Channel& channel = node.channel();
    const bool needed = node.IsNeeded(now);
    node.drop_by = needed ? Time::max() : std::min(node.drop_by, now + kAnswersWithin);
    if (needed || (channel.up() && !channel.idle() && now < node.drop_by)) {
      ++i;
      continue;
    }
    const std::unique_ptr<Node> gone = std::move(nodes_[i]);
    nodes_.erase(nodes_.begin() + static_cast<std::ptrdiff_t>(i));
    std::replace(owners_.begin(), owners_.end(), gone.get(), static_cast<Node*>(nullptr));
    gone->channel().AnswerEverything();
  }
}

bool ClusterNodes::up() const {
  return known_ && std::ranges::all_of(nodes_, [](const auto& node) {
           return !node->listed || node->channel().up();
         });
}

}  // namespace sluice::redis
