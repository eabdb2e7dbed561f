#include "redis/cluster_route.h"

#include <algorithm>
#include <array>
#include <utility>

#include "net/event_loop.h"
#include "redis/check_command.h"
#include "redis/key_text.h"
#include "store/table_core.h"

namespace sluice::redis {

namespace {

constexpr Duration kRefreshEvery = std::chrono::seconds(30);
constexpr Duration kRefreshInTrouble = std::chrono::milliseconds(200);
constexpr Duration kRefreshAtOnce = std::chrono::milliseconds(20);
constexpr Duration kTryAgainAfter = std::chrono::milliseconds(2);

Channel::Time Now() {
  return std::chrono::steady_clock::now();
}

bool Same(const net::DialTarget& a, const net::DialTarget& b) {
  return a.host == b.host && a.port == b.port && a.path == b.path;
}

}  // namespace

ClusterRoute::ClusterRoute(net::EventLoop& loop, const RedisSettings& settings,
                           const base::Clock& clock, RedisMetrics& metrics,
                           const Channel::OnEvent& on_event)
    : loop_(loop),
      settings_(settings),
      clock_(clock),
      metrics_(metrics),
      on_event_(on_event),
      random_(static_cast<std::minstd_rand::result_type>(store::NextNonce())),
      owners_(kClusterSlots, nullptr),
      refresh_([this] { Refresh(); }),
      retry_([this] { SendDelayed(); }) {
  AddSeeds();
}

// Whatever is still under way is answered by its channel.
ClusterRoute::~ClusterRoute() {
  closing_ = true;
  for (Delayed& delayed : std::exchange(delayed_, {})) {
    nodes_.front()->link->channel().Refuse(delayed.command);
  }
  // A part that is answered may ask another node: none goes before all are silent.
  for (const auto& node : nodes_) {
    node->link->channel().AnswerEverything();
  }
}

void ClusterRoute::AddSeeds() {
  for (const net::DialTarget& seed : settings_.cluster) {
    if (Node* const node = NodeAt(seed)) {
      node->listed = true;
    }
  }
}

void ClusterRoute::Join(const std::string& member, std::atomic<int>& nodes) {
  member_ = member;
  members_ = &nodes;
  for (const auto& node : nodes_) {
    node->link->channel().Join(member, nodes);
  }
}

ClusterRoute::Node* ClusterRoute::NodeAt(const net::DialTarget& target) {
  for (const auto& node : nodes_) {
    if (Same(*node->link->target(), target)) {
      return node.get();
    }
  }
  if (nodes_.size() >= kMostNodes) {
    return nullptr;
  }
  auto node = std::make_unique<Node>();
  node->link = std::make_unique<Link>(loop_, settings_, target, clock_, metrics_, on_event_,
                                      [this] { RefreshAfter(kRefreshInTrouble / 2); });
  node->link->channel().SetRedirector(*this);
  if (members_ != nullptr) {
    node->link->channel().Join(member_, *members_);
  }
  nodes_.push_back(std::move(node));
  return nodes_.back().get();
}

ClusterRoute::Node& ClusterRoute::NodeOf(const Channel& channel) {
  return **std::ranges::find_if(
      nodes_, [&](const auto& node) { return &node->link->channel() == &channel; });
}

ClusterRoute::Node& ClusterRoute::OwnerOf(std::uint16_t slot) {
  if (Node* const owner = owners_[slot]) {
    return *owner;
  }
  // Whoever is there sends the call to where it belongs.
  const auto up =
      std::ranges::find_if(nodes_, [](const auto& node) { return node->link->channel().up(); });
  return up == nodes_.end() ? *nodes_.front() : **up;
}

void ClusterRoute::SendTo(Node& node, Channel::Command command, Time now) {
  Channel& channel = node.link->channel();
  if (closing_) {
    channel.Refuse(command);
    return;
  }
  channel.Send(std::move(command), now);
  node.link->Kick();
}

void ClusterRoute::SendOne(Channel::Kind kind, store::StoreCall& call, std::uint16_t slot,
                           Time now) {
  Channel::Command command{.kind = kind, .slot = slot, .call = &call};
  command.deadline = std::min(call.deadline, now + settings_.channel.deadline);
  SendTo(OwnerOf(slot), std::move(command), now);
}

void ClusterRoute::Check(store::CheckCall& call, Time now) {
  slots_.assign(call.checks.size(), SpanningCall::kNoSlot);
  std::uint16_t only = SpanningCall::kNoSlot;
  bool spans = false;
  for (std::size_t i = 0; i < call.checks.size(); ++i) {
    const store::Check& check = call.checks[i];
    if (!IsAsked(check)) {
      continue;
    }
    slots_[i] = SlotOf(check.key.rule, check.key);
    spans |= only != SpanningCall::kNoSlot && only != slots_[i];
    // Only a key without attributes: then the rule's id says where it lies.
    spans |= !check.key.formerly.empty() && check.key.parts.empty();
    only = slots_[i];
  }
  if (!spans) {
    SendOne(Channel::Kind::kCheck, call, only, now);
    return;
  }
  if (free_spanning_.empty()) {
    spanning_.push_back(std::make_unique<SpanningCall>(static_cast<SpanningCall::Sender&>(*this)));
    free_spanning_.push_back(spanning_.back().get());
  }
  SpanningCall& spanning = *free_spanning_.back();
  free_spanning_.pop_back();
  call.deadline = std::min(call.deadline, now + settings_.channel.deadline);
  spanning.Begin(call, slots_);
}

void ClusterRoute::Send(Channel::Kind kind, store::StoreCall& call, core::KeyView& key, Time now) {
  if (key.parts.empty()) {
    key.formerly = {};  // It lies in another slot.
  }
  SendOne(kind, call, SlotOf(key.rule, key), now);
}

void ClusterRoute::Record(store::RecordCall& call, Time now) {
  SendOne(Channel::Kind::kRecord, call, SlotOfTag(call.name), now);
}

void ClusterRoute::ListBans(store::BansCall& call, Time /*now*/) {
  std::vector<net::DialTarget> servers;
  for (const auto& node : nodes_) {
    if (std::ranges::find(owners_, node.get()) != owners_.end()) {
      servers.push_back(*node->link->target());
    }
  }
  if (servers.empty()) {
    call.bans.clear();
    call.error = store::StoreError::kDidNotRun;  // Nobody is known to have anything.
    call.OnAnswered();
    return;
  }
  BanListing::Begin(call, static_cast<BanListing::Sender&>(*this), servers);
}

void ClusterRoute::SendPage(BanPage& page) {
  const auto node = std::ranges::find_if(
      nodes_, [&](const auto& each) { return Same(*each->link->target(), page.server); });
  if (closing_ || node == nodes_.end()) {
    page.error = store::StoreError::kDidNotRun;
    page.OnAnswered();
    return;
  }
  (*node)->link->channel().AskBanPage(page, Now());
  (*node)->link->Kick();
}

void ClusterRoute::Count(CounterCall& call, Time now) {
  SendOne(Channel::Kind::kCounter, call, SlotOfKey(call.key), now);
}

void ClusterRoute::SendPart(SpanningCall::Part& part) {
  SendOne(Channel::Kind::kCheck, part, part.slot, Now());
}

void ClusterRoute::SendUndo(const SpanningCall::Part& part) {
  constexpr Duration kUndoWithin = std::chrono::seconds(2);
  const Time now = Now();
  Node& owner = OwnerOf(part.slot);
  Channel::Command command{.kind = Channel::Kind::kUndo,
                           .script = ScriptId::kSpanUndo,
                           .slot = part.slot,
                           .deadline = now + kUndoWithin,
                           .may_repeat = true};
  owner.link->channel().AppendUndoOf(part, command.bytes);
  metrics_.Count(RedisCount::kUndos);
  SendTo(owner, std::move(command), now);
}

void ClusterRoute::OnSpanned(SpanningCall& call) {
  free_spanning_.push_back(&call);
}

bool ClusterRoute::OnSentAway(Channel& from, Channel::Command& command, std::string_view error,
                              Time now) {
  if (closing_) {
    return false;
  }
  if (error.starts_with("TRYAGAIN") || error.starts_with("CLUSTERDOWN")) {
    RefreshAfter(kRefreshInTrouble);
    if (delayed_.size() >= kMostDelayed) {
      return false;
    }
    delayed_.push_back({.command = std::move(command), .at = now + kTryAgainAfter});
    loop_.Arm(retry_, delayed_.front().at, net::TimerPrecision::kExact);
    return true;
  }
  const auto to = ReadRedirection(error, *NodeOf(from).link->target());
  Node* const node = to ? NodeAt(to->target) : nullptr;
  if (node == nullptr) {
    return false;
  }
  if (!to->ask) {
    owners_[to->slot] = node;
    node->listed = true;
    RefreshAfter(kRefreshAtOnce);
  }
  command.asking = to->ask;
  SendTo(*node, std::move(command), now);
  return true;
}

void ClusterRoute::SendDelayed() {
  const Time now = Now();
  while (!delayed_.empty() && delayed_.front().at <= now) {
    Channel::Command command = std::move(delayed_.front().command);
    delayed_.pop_front();
    Node& owner = OwnerOf(command.slot);
    SendTo(owner, std::move(command), now);
  }
  if (!delayed_.empty()) {
    loop_.Arm(retry_, delayed_.front().at, net::TimerPrecision::kExact);
  }
}

void ClusterRoute::OnState(Channel& from, Time /*now*/) {
  if (from.up() && !known_) {
    from.AskTopology();
    NodeOf(from).link->Kick();
  }
  RefreshAfter(known_ && up() ? kRefreshEvery : kRefreshInTrouble);
}

void ClusterRoute::RefreshAfter(Duration wait) {
  std::uniform_int_distribution<Duration::rep> jitter(wait.count() / 2, wait.count());
  const net::SteadyTime at = Now() + Duration(jitter(random_));
  if (at < refresh_at_) {
    refresh_at_ = at;
    loop_.Arm(refresh_, at, net::TimerPrecision::kExact);
  }
}

void ClusterRoute::Refresh() {
  refresh_at_ = net::SteadyTime::max();
  DropUnlisted();
  bool asked = false;
  // Another each time: one of them may be cut off from the others.
  for (std::size_t i = 0; i < nodes_.size() && !asked; ++i) {
    Link& link = *nodes_[next_asked_++ % nodes_.size()]->link;
    if (link.channel().up() && !link.channel().breaker_open()) {
      link.channel().AskTopology();
      link.Kick();
      asked = true;
    }
  }
  if (!asked) {
    AddSeeds();
  }
  RefreshAfter(known_ && up() ? kRefreshEvery : kRefreshInTrouble);
}

void ClusterRoute::OnTopology(Channel& from, std::span<const wire::RespNode> reply, Time /*now*/) {
  const auto map = ReadSlotMap(reply, *NodeOf(from).link->target());
  if (!map || map->nodes.empty()) {
    return;
  }
  for (const auto& node : nodes_) {
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
}

// Not while one of them calls. Who still answers something is left alone.
void ClusterRoute::DropUnlisted() {
  if (std::ranges::none_of(nodes_, [](const auto& node) { return node->listed; })) {
    return;
  }
  for (std::size_t i = 0; i < nodes_.size();) {
    const Channel& channel = nodes_[i]->link->channel();
    if (nodes_[i]->listed || (channel.up() && !channel.idle())) {
      ++i;
      continue;
    }
    const std::unique_ptr<Node> gone = std::move(nodes_[i]);
    nodes_.erase(nodes_.begin() + static_cast<std::ptrdiff_t>(i));
    std::replace(owners_.begin(), owners_.end(), gone.get(), static_cast<Node*>(nullptr));
    gone->link->channel().AnswerEverything();
  }
}

bool ClusterRoute::up() const {
  return known_ && std::ranges::all_of(nodes_, [](const auto& node) {
           return !node->listed || node->link->channel().up();
         });
}

bool ClusterRoute::idle() const {
  return delayed_.empty() && free_spanning_.size() == spanning_.size() &&
         std::ranges::all_of(nodes_, [](const auto& node) { return node->link->channel().idle(); });
}

}  // namespace sluice::redis
