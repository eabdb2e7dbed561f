#include "redis/cluster_route.h"

#include <algorithm>
#include <array>
#include <utility>

#include "redis/check_request.h"
#include "redis/key_name.h"

// The problem. A cluster's slots belong to primaries, and who owns what changes while calls are
// under way: slots are moved, primaries fail and replicas take over, and a partition leaves an
// owner that does not know that it no longer is one. Every call must be answered exactly once and
// by its deadline, and what it charged must be what its answer says, or come back. There is no lock
// and no agreement between nodes to lean on. What there is: each server decides each command by
// itself, and says whether it ran.
//
// Who answers a call. At every moment a call has one holder: a channel (written, or waiting for a
// connection), delayed_ (below), or a SpanningCall that counts its parts. Its holder answers it or
// passes it on; handing on moves the Command, so no two holders can have it. A channel and delayed_
// both bound how long: channels by the deadline in the command, which goes with it wherever it is
// sent, delayed_ by taking nothing whose deadline comes before its turn.
//
// The owner is another one by now. It answers MOVED or ASK and has run nothing, so the command is
// sent to the server that it names. MOVED also corrects the map for all later calls and has the
// rest of the map asked for soon; ASK does not, as the slot is only on its way, and the command is
// preceded by ASKING. Two servers that name each other would pass a command to and fro: Channel
// counts attempts and gives up after the fifth, with kDidNotRun, which is still true.
//
// The keys are just being moved. A script on several keys of which some have moved is answered
// TRYAGAIN: nothing ran, and neither server could run it now. The command waits a moment in
// delayed_ and then goes to the slot's owner. CLUSTERDOWN is the same to us.
//
// The owner does not answer. Nothing says whether the call ran, so it is never sent anywhere else:
// its sender gets kUnavailable at the deadline. If it did run, the reply that comes late is undone
// by the channel, which therefore stays until it has been read: a node that lost its last slot is
// kept until it has answered all, or for two seconds. A silent owner may have a successor, so the
// map is asked of another node.
//
// The owner is a primary only in its own view. It charges what its successor does not know of. When
// the partition ends that state is discarded with the whole server's: the loss of a failover,
// which only ever makes the cluster admit more, and at most what was charged there.
//
// A request over several slots. Its parts are charged at once, by one id. If one part denies, the
// others are undone by that id, whatever became of them: an undo that arrives before its charge
// leaves a mark that refuses the charge (span_undo.lua), one that arrives twice finds nothing. That
// is why an undo alone may be repeated after a lost connection, and may wait on TRYAGAIN as often
// as its deadline allows. Between charge and undo other requests may be denied; none is admitted
// that should not be.
//
// The end. A part that is answered may make its SpanningCall send an undo to another node. So the
// destructor first refuses all that comes (closing_), then silences every channel before the
// first of them is destroyed.
//
// tests/simulation/redis/cluster_simulation_test.cc draws all of these and counts what was
// admitted.
namespace sluice::redis {

namespace {

constexpr Duration kTryAgainAfter = std::chrono::milliseconds(2);
constexpr Duration kUndoAgainAfter = std::chrono::milliseconds(20);  // No caller waits for it.

}  // namespace

ClusterRoute::ClusterRoute(std::unique_ptr<Environment> environment,
                           std::vector<net::DialTarget> seeds, Duration deadline,
                           RedisMetrics& metrics, std::uint64_t seed)
    : environment_(std::move(environment)),
      deadline_(deadline),
      metrics_(metrics),
      nodes_(*environment_, std::move(seeds), seed, static_cast<Redirector&>(*this),
             [this] { ArmWake(); }) {}

// Whatever is still under way is answered by its channel.
ClusterRoute::~ClusterRoute() {
  closing_ = true;
  for (Delayed& delayed : std::exchange(delayed_, {})) {
    nodes_.all().front()->channel().Refuse(delayed.command);
  }
  // A part that is answered may ask another node: none goes before all are silent.
  for (const auto& node : nodes_.all()) {
    node->channel().AnswerEverything();
  }
}

void ClusterRoute::SendTo(Node& node, Command command, Time now) {
  Channel& channel = node.channel();
  if (closing_) {
    channel.Refuse(command);
    return;
  }
  channel.Send(std::move(command), now);
  node.peer->Kick();
}

void ClusterRoute::SendOne(const Request& request, std::uint16_t slot, Time now) {
  // It goes with the command, wherever servers send that on.
  const Time deadline = std::min(request.call()->deadline, now + deadline_);
  SendTo(nodes_.OwnerOf(slot), {.request = request, .deadline = deadline, .slot = slot}, now);
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
    SendOne(Request::Of<CheckVerb>(call), only, now);
    return;
  }
  // They are used again, so a request over several slots allocates nothing in steady state.
  if (free_spanning_.empty()) {
    spanning_.push_back(std::make_unique<SpanningCall>(static_cast<SpanningCall::Sender&>(*this)));
    free_spanning_.push_back(spanning_.back().get());
  }
  SpanningCall& spanning = *free_spanning_.back();
  free_spanning_.pop_back();
  // One deadline for all parts: none is given up while another may still be charged.
  call.deadline = std::min(call.deadline, now + deadline_);
  spanning.Begin(call, slots_);
}

void ClusterRoute::Send(const Request& request, Time now) {
  SendOne(request, request.Place(), now);
}

void ClusterRoute::ListBans(store::BansCall& call, Time /*now*/) {
  // Primaries that own slots: a replica would list the same keys again.
  std::vector<net::DialTarget> servers;
  for (const auto& node : nodes_.all()) {
    if (nodes_.OwnsAny(*node)) {
      servers.push_back(node->target);
    }
  }
  if (servers.empty()) {
    call.bans.clear();
    call.error = store::StoreError::kDidNotRun;  // No owner of any slot is known.
    call.OnAnswered();
    return;
  }
  BanListing::Begin(call, static_cast<BanListing::Sender&>(*this), servers);
}

void ClusterRoute::SendPage(BanPage& page) {
  const auto node = std::ranges::find_if(
      nodes_.all(), [&](const auto& each) { return each->target == page.server; });
  if (closing_ || node == nodes_.all().end()) {
    page.error = store::StoreError::kDidNotRun;
    page.OnAnswered();
    return;
  }
  (*node)->channel().Send(Request::Of<BanPageVerb>(page), environment_->Now(), BanPage::kWithin);
  (*node)->peer->Kick();
}

void ClusterRoute::SendPart(SpanningCall::Part& part) {
  SendOne(Request::Of<CheckVerb>(part), part.slot, environment_->Now());
}

void ClusterRoute::SendUndo(const SpanningCall::Part& part) {
  // Longer than any call: no caller waits, and what is not undone stays charged.
  constexpr Duration kUndoWithin = std::chrono::seconds(2);
  const Time now = environment_->Now();
  Node& owner = nodes_.OwnerOf(part.slot);
  Command command = owner.channel().CommandToUndo(part);
  command.slot = part.slot;
  command.deadline = now + kUndoWithin;
  metrics_.Count(RedisCount::kUndos);
  SendTo(owner, std::move(command), now);
}

void ClusterRoute::OnSpanned(SpanningCall& call) {
  free_spanning_.push_back(&call);
}

bool ClusterRoute::OnSentAway(Channel& from, Command& command, std::string_view error, Time now) {
  if (closing_) {
    return false;
  }
  if (error.starts_with("TRYAGAIN") || error.starts_with("CLUSTERDOWN")) {
    // Nothing ran. The slot is between two owners, or has none: the command is tried again soon.
    nodes_.RefreshAfter(ClusterNodes::kRefreshInTrouble);
    const Time at = now + (command.request.call() == nullptr ? kUndoAgainAfter : kTryAgainAfter);
    // Its turn would come too late, or too many wait already: the channel then answers that it did
    // not run.
    if (delayed_.size() >= kMostDelayed || command.deadline <= at) {
      return false;
    }
    // Behind those of the same time, so that commands keep their order.
    delayed_.insert(std::ranges::upper_bound(delayed_, at, {}, &Delayed::at),
                    {.command = std::move(command), .at = at});
    ArmWake();
    return true;
  }
  const auto to = ReadRedirection(error, nodes_.NodeOf(from).target);
  if (!to) {
    return false;
  }
  Node* const node = nodes_.NodeAt(to->target);
  if (node == nullptr) {
    return false;
  }
  if (!to->ask) {
    nodes_.SetOwner(to->slot, *node);
  } else {
    // It may own no slot yet. Until the map shows the move, only this keeps its connection open.
    node->needed_until = now + ClusterNodes::kRefreshEvery;
  }
  // Without ASKING a server that does not own the slot yet would send the command back.
  command.asking = to->ask;
  SendTo(*node, std::move(command), now);
  return true;
}

void ClusterRoute::OnWake(Time now) {
  if (now >= nodes_.refresh_at()) {
    nodes_.Refresh();
  }
  SendDelayed(now);
  ArmWake();
}

void ClusterRoute::ArmWake() {
  const Time refresh = nodes_.refresh_at();
  const Time at = delayed_.empty() ? refresh : std::min(refresh, delayed_.front().at);
  if (at != Time::max()) {
    environment_->WakeAt(at, *this);
  }
}

void ClusterRoute::SendDelayed(Time now) {
  while (!delayed_.empty() && delayed_.front().at <= now) {
    Command command = std::move(delayed_.front().command);
    delayed_.pop_front();
    // Looked up now: the owner may be another one than when the command was put off.
    Node& owner = nodes_.OwnerOf(command.slot);
    SendTo(owner, std::move(command), now);
  }
}

void ClusterRoute::OnTopology(Channel& from, Reply reply, Time /*now*/) {
  nodes_.OnTopology(from, reply);
}

void ClusterRoute::OnState(Channel& from, Time /*now*/) {
  nodes_.OnState(from);
}

bool ClusterRoute::idle() const {
  return delayed_.empty() && free_spanning_.size() == spanning_.size() &&
         std::ranges::all_of(nodes_.all(), [](const auto& node) { return node->channel().idle(); });
}

}  // namespace sluice::redis
