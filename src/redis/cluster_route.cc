#include "redis/cluster_route.h"

#include <algorithm>
#include <array>
#include <utility>

#include "redis/check_command.h"
#include "redis/key_text.h"

namespace sluice::redis {

namespace {

constexpr Duration kRefreshEvery = std::chrono::seconds(30);
constexpr Duration kRefreshInTrouble = std::chrono::milliseconds(200);
constexpr Duration kRefreshAtOnce = std::chrono::milliseconds(20);
constexpr Duration kAnswersWithin = std::chrono::seconds(2);
constexpr Duration kTryAgainAfter = std::chrono::milliseconds(2);
constexpr Duration kUndoAgainAfter = std::chrono::milliseconds(20);  // Nobody waits for it.

bool Same(const net::DialTarget& a, const net::DialTarget& b) {
  return a.host == b.host && a.port == b.port && a.path == b.path;
}

}  // namespace

ClusterRoute::ClusterRoute(std::unique_ptr<Environment> environment,
                           std::vector<net::DialTarget> seeds, Duration deadline,
                           RedisMetrics& metrics, std::uint64_t seed)
    : environment_(std::move(environment)),
      seeds_(std::move(seeds)),
      deadline_(deadline),
      metrics_(metrics),
      random_(seed),
      owners_(kClusterSlots, nullptr) {
  AddSeeds();
}

// Whatever is still under way is answered by its channel.
ClusterRoute::~ClusterRoute() {
  closing_ = true;
  for (Delayed& delayed : std::exchange(delayed_, {})) {
    nodes_.front()->peer->channel().Refuse(delayed.command);
  }
  // A part that is answered may ask another node: none goes before all are silent.
  for (const auto& node : nodes_) {
    node->peer->channel().AnswerEverything();
  }
}

void ClusterRoute::AddSeeds() {
  for (const net::DialTarget& seed : seeds_) {
    if (Node* const node = NodeAt(seed)) {
      node->listed = true;
    }
  }
}

void ClusterRoute::Join(const std::string& member, std::atomic<int>& nodes) {
  member_ = member;
  members_ = &nodes;
  for (const auto& node : nodes_) {
    node->peer->channel().Join(member, nodes);
  }
}

ClusterRoute::Node* ClusterRoute::NodeAt(const net::DialTarget& target) {
  for (const auto& node : nodes_) {
    if (Same(node->target, target)) {
      return node.get();
    }
  }
  if (nodes_.size() >= kMostNodes) {
    return nullptr;
  }
  auto node = std::make_unique<Node>();
  node->target = target;
  node->peer = environment_->To(target, [this] { RefreshAfter(kRefreshInTrouble / 2); });
  node->peer->channel().SetRedirector(*this);
  if (members_ != nullptr) {
    node->peer->channel().Join(member_, *members_);
  }
  nodes_.push_back(std::move(node));
  return nodes_.back().get();
}

ClusterRoute::Node& ClusterRoute::NodeOf(const Channel& channel) {
  return **std::ranges::find_if(
      nodes_, [&](const auto& node) { return &node->peer->channel() == &channel; });
}

ClusterRoute::Node& ClusterRoute::OwnerOf(std::uint16_t slot) {
  if (Node* const owner = owners_[slot]) {
    return *owner;
  }
  // Whoever is there sends the call to where it belongs.
  const auto up =
      std::ranges::find_if(nodes_, [](const auto& node) { return node->peer->channel().up(); });
  return up == nodes_.end() ? *nodes_.front() : **up;
}

void ClusterRoute::SendTo(Node& node, Channel::Command command, Time now) {
  Channel& channel = node.peer->channel();
  if (closing_) {
    channel.Refuse(command);
    return;
  }
  channel.Send(std::move(command), now);
  node.peer->Kick();
}

void ClusterRoute::SendOne(Channel::Kind kind, store::StoreCall& call, std::uint16_t slot,
                           Time now) {
  Channel::Command command{.kind = kind, .slot = slot, .call = &call};
  command.deadline = std::min(call.deadline, now + deadline_);
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
  call.deadline = std::min(call.deadline, now + deadline_);
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

void ClusterRoute::Secret(SecretCall& call, Time now) {
  SendOne(Channel::Kind::kSecret, call, SlotOfTag(SecretCall::kTag), now);
}

void ClusterRoute::ListBans(store::BansCall& call, Time /*now*/) {
  std::vector<net::DialTarget> servers;
  for (const auto& node : nodes_) {
    if (std::ranges::find(owners_, node.get()) != owners_.end()) {
      servers.push_back(node->target);
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
      nodes_, [&](const auto& each) { return Same(each->target, page.server); });
  if (closing_ || node == nodes_.end()) {
    page.error = store::StoreError::kDidNotRun;
    page.OnAnswered();
    return;
  }
  (*node)->peer->channel().AskBanPage(page, environment_->Now());
  (*node)->peer->Kick();
}

void ClusterRoute::Count(CounterCall& call, Time now) {
  SendOne(Channel::Kind::kCounter, call, SlotOfKey(call.key), now);
}

void ClusterRoute::SendPart(SpanningCall::Part& part) {
  SendOne(Channel::Kind::kCheck, part, part.slot, environment_->Now());
}

void ClusterRoute::SendUndo(const SpanningCall::Part& part) {
  constexpr Duration kUndoWithin = std::chrono::seconds(2);
  const Time now = environment_->Now();
  Node& owner = OwnerOf(part.slot);
  Channel::Command command{.kind = Channel::Kind::kUndo,
                           .script = ScriptId::kSpanUndo,
                           .slot = part.slot,
                           .deadline = now + kUndoWithin,
                           .may_repeat = true};
  owner.peer->channel().AppendUndoOf(part, command.bytes);
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
    const Time at = now + (command.kind == Channel::Kind::kUndo ? kUndoAgainAfter : kTryAgainAfter);
    if (delayed_.size() >= kMostDelayed || command.deadline <= at) {
      return false;
    }
    delayed_.insert(std::ranges::upper_bound(delayed_, at, {}, &Delayed::at),
                    {.command = std::move(command), .at = at});
    ArmWake();
    return true;
  }
  const auto to = ReadRedirection(error, NodeOf(from).target);
  if (!to) {
    return false;
  }
  Node* const node = NodeAt(to->target);
  if (node == nullptr) {
    return false;
  }
  if (!to->ask) {
    owners_[to->slot] = node;
    node->listed = true;
    RefreshAfter(kRefreshAtOnce);
  } else {
    node->needed_until = now + kRefreshEvery;
  }
  command.asking = to->ask;
  SendTo(*node, std::move(command), now);
  return true;
}

void ClusterRoute::OnWake(Time now) {
  if (now >= refresh_at_) {
    Refresh();
  }
  SendDelayed(now);
  ArmWake();
}

void ClusterRoute::ArmWake() {
  const Time at = delayed_.empty() ? refresh_at_ : std::min(refresh_at_, delayed_.front().at);
  if (at != Time::max()) {
    environment_->WakeAt(at, *this);
  }
}

void ClusterRoute::SendDelayed(Time now) {
  while (!delayed_.empty() && delayed_.front().at <= now) {
    Channel::Command command = std::move(delayed_.front().command);
    delayed_.pop_front();
    Node& owner = OwnerOf(command.slot);
    SendTo(owner, std::move(command), now);
  }
}

void ClusterRoute::OnState(Channel& from, Time /*now*/) {
  if (from.up() && !known_) {
    from.AskTopology();
    NodeOf(from).peer->Kick();
  }
  RefreshInTime();
  if (from.silent()) {  // It may have a successor.
    RefreshAfter(kRefreshInTrouble);
  }
}

void ClusterRoute::RefreshInTime() {
  const Time now = environment_->Now();
  const bool settled = known_ && std::ranges::all_of(nodes_, [now](const auto& node) {
                         const Channel& channel = node->peer->channel();
                         return node->IsNeeded(now) && channel.up() && !channel.breaker_open();
                       });
  RefreshAfter(settled ? kRefreshEvery : kRefreshInTrouble);
}

void ClusterRoute::RefreshAfter(Duration wait) {
  const Time at = environment_->Now() + Duration(random_.Between(wait.count() / 2, wait.count()));
  if (at < refresh_at_) {
    refresh_at_ = at;
    ArmWake();
  }
}

void ClusterRoute::Refresh() {
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

void ClusterRoute::OnTopology(Channel& from, std::span<const wire::RespNode> reply, Time /*now*/) {
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
  RefreshInTime();  // Soon, if somebody is to be dropped.
}

// Not while one of them calls. Who still answers something is left alone for a while: it may also
// be gone without a word.
void ClusterRoute::DropUnlisted() {
  if (std::ranges::none_of(nodes_, [](const auto& node) { return node->listed; })) {
    return;
  }
  const Time now = environment_->Now();
  for (std::size_t i = 0; i < nodes_.size();) {
    Node& node = *nodes_[i];
    const Channel& channel = node.peer->channel();
    const bool needed = node.IsNeeded(now);
    node.drop_by = needed ? Time::max() : std::min(node.drop_by, now + kAnswersWithin);
    if (needed || (channel.up() && !channel.idle() && now < node.drop_by)) {
      ++i;
      continue;
    }
    const std::unique_ptr<Node> gone = std::move(nodes_[i]);
    nodes_.erase(nodes_.begin() + static_cast<std::ptrdiff_t>(i));
    std::replace(owners_.begin(), owners_.end(), gone.get(), static_cast<Node*>(nullptr));
    gone->peer->channel().AnswerEverything();
  }
}

bool ClusterRoute::up() const {
  return known_ && std::ranges::all_of(nodes_, [](const auto& node) {
           return !node->listed || node->peer->channel().up();
         });
}

bool ClusterRoute::idle() const {
  return delayed_.empty() && free_spanning_.size() == spanning_.size() &&
         std::ranges::all_of(nodes_, [](const auto& node) { return node->peer->channel().idle(); });
}

}  // namespace sluice::redis
