#include "simulation/redis/cluster_world.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "redis/key_name.h"

namespace sluice::redis {

namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;
using store::StoreError;

constexpr Duration kClusterTroubleFor = milliseconds(2500);
constexpr Duration kClusterQuietFor = milliseconds(3500);
constexpr Duration kSettledAfter = seconds(2);         // After the last misfortune.
constexpr Duration kFoundWithin = milliseconds(1200);  // A new primary, if the old one is silent.
constexpr Duration kCallDeadline = milliseconds(10);
constexpr std::size_t kClusterNodes = 3;
constexpr std::size_t kUsers = 6;
constexpr Units kLimitOfKey = 300'000;
constexpr Units kCosts = 4096;

core::Quota ClusterQuota() {
  core::Quota quota;
  quota.algorithm = core::Algorithm::kFixedWindow;
  quota.limit = kLimitOfKey;
  quota.window = std::chrono::hours(1);
  return quota;
}

}  // namespace

// A node's way to one server.
class ClusterWorld::Way final : public Peer {
 public:
  Way(ClusterWorld& world, Node& node, const net::DialTarget& target, std::function<void()> on_lost)
      : network_(world.network_),
        node_(node),
        channel_(
            {.deadline = kCallDeadline}, network_.clock(), world.metrics_,
            [](bool, const std::string&) {}, network_.DrawSeed()),
        line_(network_, channel_, world.cluster_.HostAt(target), std::move(on_lost)),
        life_(std::make_shared<Way*>(this)) {
    if (world.planted_) {
      channel_.ResendLostForTest();
    }
    node_.ways.push_back(this);
    Kick();
  }
  ~Way() override { std::erase(node_.ways, this); }

  Channel& channel() override { return channel_; }
  // At the end of this turn, as Link does.
  void Kick() override {
    if (std::exchange(kicked_, true)) {
      return;
    }
    network_.At(network_.now(), [life = std::weak_ptr(life_)] {
      if (const auto way = life.lock()) {
        (*way)->kicked_ = false;
        (*way)->line_.Pump();
      }
    });
  }
  Line& line() { return line_; }

 private:
  Network& network_;
  Node& node_;
  Channel channel_;
  Line line_;
  bool kicked_ = false;
  std::shared_ptr<Way*> life_;
};

class ClusterWorld::Ways final : public Environment {
 public:
  Ways(ClusterWorld& world, Node& node)
      : world_(world), node_(node), life_(std::make_shared<Ways*>(this)) {}

  std::unique_ptr<Peer> To(const net::DialTarget& target, std::function<void()> on_lost) override {
    return std::make_unique<Way>(world_, node_, target, std::move(on_lost));
  }
  [[nodiscard]] Time Now() const override { return world_.network_.now(); }
  void WakeAt(Time when, Sleeper& sleeper) override {
    wake_at_ = when;
    const Time at = std::max(when, Now() + microseconds(1));
    world_.network_.At(at, [life = std::weak_ptr(life_), when, &sleeper] {
      if (const auto ways = life.lock(); ways != nullptr && (*ways)->wake_at_ == when) {
        (*ways)->wake_at_ = Time::max();
        sleeper.OnWake((*ways)->Now());
      }
    });
  }
  std::uint64_t DrawId() override { return world_.network_.DrawSeed(); }
  [[nodiscard]] bool RunsHere() const override { return true; }

 private:
  ClusterWorld& world_;
  Node& node_;
  Time wake_at_ = Time::max();
  std::shared_ptr<Ways*> life_;
};

ClusterWorld::ClusterWorld(std::uint64_t seed, Faults faults)
    : network_(seed, kClusterTroubleFor),
      faults_(faults),
      cluster_(network_),
      settled_(network_.quiet_from() + kSettledAfter) {
  // Two users of each shard.
  std::array<std::size_t, SimulatedCluster::kShards> found{};
  for (int i = 0; keys_.size() < 2 * kUsers; ++i) {
    auto key = std::make_unique<support::OwnedKey>("u" + std::to_string(i), "a");
    std::size_t& of_shard = found.at(cluster_.ShardOf(SlotOf("a", key->view())));
    if (of_shard < kUsers / SimulatedCluster::kShards) {
      ++of_shard;
      keys_.push_back(std::move(key));
      keys_.push_back(std::make_unique<support::OwnedKey>("u" + std::to_string(i), "b"));
    }
  }
  for (const auto& key : keys_) {
    AppendKeyName(key->view().rule, key->view(), ClusterQuota(), names_.emplace_back());
  }
  admitted_.resize(keys_.size());
}

ClusterWorld::~ClusterWorld() = default;

void ClusterWorld::Complain(std::string problem) {
  if (problem_.empty()) {
    problem_ = std::move(problem);
  }
}

bool ClusterWorld::IsQuiet() const {
  return network_.now() > settled_;
}

void ClusterWorld::Begin() {
  for (std::size_t i = 0; i < kClusterNodes; ++i) {
    nodes_.push_back(std::make_unique<Node>());
    Node& node = *nodes_.back();
    const auto seed = static_cast<std::size_t>(network_.Draw(SimulatedCluster::kServers));
    node.route = std::make_unique<ClusterRoute>(std::make_unique<Ways>(*this, node),
                                                std::vector{SimulatedCluster::TargetOf(seed)},
                                                kCallDeadline, metrics_, network_.DrawSeed());
  }
}

void ClusterWorld::Add(Call& call, std::size_t key) {
  ++checks_;
  const Units cost = checks_ * 2971 % kCosts + 1;  // Odd: each once.
  call.own_checks.push_back(
      {.key = keys_[key]->view(), .quota = ClusterQuota(), .cost = Cost{cost}});
  call.keys.push_back(key);
}

void ClusterWorld::Ask(Node& node, std::size_t user) {
  Call& call = calls_.emplace_back();
  call.world = this;
  Add(call, 2 * user);
  if (network_.Chance(250)) {
    Add(call, 2 * user + 1);
  }
  if (network_.Chance(300)) {
    Add(call, 2 * ((user + 1 + static_cast<std::size_t>(network_.Draw(kUsers - 1))) % kUsers));
  }
  call.own_answers.resize(call.own_checks.size());
  call.checks = call.own_checks;
  call.answers = call.own_answers;
  call.answer_by = network_.now() + kCallDeadline;
  node.route->Check(call, network_.now());
}

void ClusterWorld::OnAnswered(Call& call) {
  if (++call.answers_got > 1) {
    Complain("a call was answered twice");
  }
  // A part that is denied has the other parts' numbers asked anew: in the same time.
  if (network_.now() > call.answer_by + milliseconds(1)) {
    Complain(fmt::format(
        "a call of {} checks was answered {} us late, with {}", call.keys.size(),
        std::chrono::duration_cast<microseconds>(network_.now() - call.answer_by).count(),
        static_cast<int>(call.error)));
  }
  bool failed = call.error != StoreError::kNone;
  for (std::size_t i = 0; i < call.keys.size(); ++i) {
    const store::CheckAnswer& answer = call.own_answers[i];
    failed |= answer.error != StoreError::kNone;
    if (call.error == StoreError::kNone && answer.error == StoreError::kNone && answer.charged) {
      admitted_[call.keys[i]] += call.own_checks[i].cost.units;
    }
  }
  if (IsQuiet()) {
    ++answered_after_;
    if (failed) {
      Complain("a call failed long after the last misfortune");
    }
  }
}

void ClusterWorld::CutOff(std::size_t server) {
  const Host& host = cluster_.HostAt(SimulatedCluster::TargetOf(server));
  for (const auto& node : nodes_) {
    for (Way* const way : std::vector<Way*>(node->ways)) {
      if (&way->line().host() == &host) {
        way->line().Drop("cut");
      }
    }
  }
}

void ClusterWorld::Hang() {
  const Time promoted = network_.now() + milliseconds(300);
  cluster_.Stall(0, network_.now() + std::chrono::hours(1));
  network_.At(promoted, [this] {
    cluster_.Promote(0, /*planned=*/false);
    cluster_.Depose(0);
  });
  settled_ = promoted + kFoundWithin;
}

void ClusterWorld::Misfortune() {
  const Time now = network_.now();
  const Duration lasts = milliseconds(network_.Draw(700));
  const auto server = static_cast<std::size_t>(network_.Draw(SimulatedCluster::kServers));
  Node& node = *nodes_[static_cast<std::size_t>(network_.Draw(kClusterNodes))];
  switch (network_.Draw(8)) {
    case 0:
      cluster_.FlushScripts(server);
      break;
    case 1:
      cluster_.Stall(server, now + lasts / 4);
      break;
    case 2:
      if (faults_.cuts) {
        CutOff(server);
      }
      break;
    case 3:  // A partition: what is sent is lost, and after a while the connection too.
      if (faults_.cuts && !node.ways.empty()) {
        const Host& host = cluster_.HostAt(SimulatedCluster::TargetOf(server));
        for (Way* const way : node.ways) {
          if (&way->line().host() == &host) {
            way->line().Cut();
          }
        }
        network_.At(now + lasts, [this, &node, server] {
          for (Way* const way : node.ways) {
            way->line().Mend();
          }
          CutOff(server);
        });
      }
      break;
    default:
      if (!changing_) {
        Change();
      }
      break;
  }
}

// One at a time: what happens when two cross is Redis's own.
void ClusterWorld::Change() {
  const auto shard = static_cast<std::size_t>(network_.Draw(SimulatedCluster::kShards));
  switch (network_.Draw(3)) {
    case 0:
      MoveSlot();
      break;
    case 1:
      cluster_.Promote(shard, /*planned=*/true);
      break;
    default:
      if (faults_.losses) {
        ReplacePrimary(shard);
      }
      break;
  }
}

// It ends, or only the other servers hear nothing of it any more: then nodes go on asking it.
void ClusterWorld::ReplacePrimary(std::size_t shard) {
  changing_ = true;
  const std::size_t old = cluster_.PrimaryOf(shard);
  const bool ends = network_.Chance(600);
  const Time promoted = network_.now() + milliseconds(100 + network_.Draw(400));
  if (ends) {
    cluster_.Kill(old);
    CutOff(old);
  }
  if (network_.Chance(400)) {
    network_.At(promoted - milliseconds(80), [this] { cluster_.SetDown(true); });
  }
  network_.At(promoted, [this, shard, old, ends] {
    cluster_.SetDown(false);
    cluster_.Promote(shard, /*planned=*/false);
    const Time over = network_.now() + milliseconds(network_.Draw(200));
    if (ends) {
      cluster_.Depose(old);
    }
    network_.At(over, [this, old, ends] {
      if (ends) {
        cluster_.Start(old);
      } else {
        cluster_.Depose(old);
      }
      changing_ = false;
    });
  });
}

void ClusterWorld::MoveSlot() {
  changing_ = true;
  const auto user = static_cast<std::size_t>(network_.Draw(kUsers));
  const std::uint16_t slot = SlotOf("a", keys_[2 * user]->view());
  const std::size_t by = 1 + static_cast<std::size_t>(network_.Draw(SimulatedCluster::kShards - 1));
  cluster_.BeginMove(slot, (cluster_.ShardOf(slot) + by) % SimulatedCluster::kShards);
  network_.At(network_.now() + milliseconds(network_.Draw(100)), [this, slot] { MoveKeys(slot); });
}

void ClusterWorld::MoveKeys(std::uint16_t slot) {
  const bool moved = cluster_.MoveKey(slot);
  if (!moved) {
    cluster_.EndMove(slot);
    changing_ = false;
    return;
  }
  // Records of requests are many.
  network_.At(network_.now() + microseconds(network_.Draw(network_.Chance(100) ? 30'000 : 300)),
              [this, slot] { MoveKeys(slot); });
}

void ClusterWorld::AskAtRandom(Time end) {
  for (Time t = network_.now(); t < end;) {
    network_.At(t, [this] {
      Ask(*nodes_[static_cast<std::size_t>(network_.Draw(kClusterNodes))],
          static_cast<std::size_t>(network_.Draw(kUsers)));
    });
    t += microseconds(network_.Draw(t < network_.quiet_from() ? 9'000 : 30'000));
  }
}

// Every node asks for each user once in 864 ms, of each shard some three times a second.
void ClusterWorld::AskInTurn(Time end) {
  std::size_t turn = 0;
  for (Time t = network_.now(); t < end; t += milliseconds(48)) {
    network_.At(
        t, [this, turn] { Ask(*nodes_[turn % kClusterNodes], turn / kClusterNodes % kUsers); });
    ++turn;
  }
}

ClusterWorld::Report ClusterWorld::Run() {
  Begin();
  const Time end = network_.quiet_from() + kClusterQuietFor;
  if (faults_.only_a_hang) {
    AskInTurn(end - seconds(1));
    network_.At(network_.quiet_from(), [this] { Hang(); });
  } else {
    AskAtRandom(end - seconds(1));
  }
  for (Time t = network_.now() + milliseconds(20);
       !faults_.only_a_hang && t < network_.quiet_from() - milliseconds(700);
       t += milliseconds(30 + network_.Draw(200))) {
    network_.At(t, [this] { Misfortune(); });
  }
  while (problem_.empty() && network_.Step(end)) {
  }
  if (problem_.empty()) {
    Judge();
  }
  return {.problem = problem_,
          .late = static_cast<Units>(metrics_.Read(RedisCount::kLateCharges)),
          .undos = static_cast<Units>(metrics_.Read(RedisCount::kUndos)),
          .sent_away = {cluster_.SentAway("MOVED"), cluster_.SentAway("ASK"),
                        cluster_.SentAway("TRYAGAIN"), cluster_.SentAway("CLUSTERDOWN")}};
}

void ClusterWorld::Judge() {
  if (checks_ >= kCosts) {
    Complain("there were more checks than costs");
  }
  for (std::size_t i = 0; i < keys_.size(); ++i) {
    const Units lost = cluster_.LostOf(names_[i]);
    const Units used = cluster_.UsedOf(names_[i]);
    if (admitted_[i] > kLimitOfKey + lost) {
      Complain(fmt::format("{} admitted of {}, with {} lost", admitted_[i], kLimitOfKey, lost));
    }
    if (used + lost < admitted_[i]) {
      Complain(fmt::format("{} admitted, {} used and {} lost", admitted_[i], used, lost));
    }
    if (!faults_.cuts && !faults_.losses && used != admitted_[i]) {
      Complain(fmt::format("{} used for {} admitted", used, admitted_[i]));
    }
  }
  for (const Call& call : calls_) {
    JudgeCall(call);
  }
  if (answered_after_ == 0) {
    Complain("nothing was answered after the last misfortune");
  }
  for (const auto& node : nodes_) {
    if (node->ways.size() > SimulatedCluster::kShards) {
      Complain("a route keeps ways to servers that own nothing");
    }
    if (!node->route->idle() || !node->route->up()) {
      Complain(fmt::format("a route did not come to rest: idle {}, up {}", node->route->idle(),
                           node->route->up()));
    }
  }
}

void ClusterWorld::JudgeCall(const Call& call) {
  if (call.answers_got == 0) {
    Complain("a call was never answered");
  }
  for (std::size_t i = 0; i < call.keys.size(); ++i) {
    const Units cost = call.own_checks[i].cost.units;
    const int charged = cluster_.ChargedOf(cost);
    const int taken_back = cluster_.TakenBackOf(cost);
    const store::CheckAnswer& answer = call.own_answers[i];
    const bool admitted =
        call.error == StoreError::kNone && answer.error == StoreError::kNone && answer.charged;
    if (charged > 1) {
      Complain(fmt::format("a check was charged {} times", charged));
    }
    if (taken_back > charged) {
      Complain("a check was taken back more often than charged");
    }
    if (admitted && (charged != 1 || taken_back != 0)) {
      Complain("a check was admitted and is not charged");
    }
    if (!faults_.cuts && !faults_.losses && !admitted && charged != taken_back) {
      Complain("a check was charged and not admitted, nor taken back");
    }
  }
}

}  // namespace sluice::redis
