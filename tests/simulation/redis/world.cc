#include "simulation/redis/world.h"

#include <algorithm>

#include <fmt/format.h>

namespace sluice::redis {

namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;
using store::StoreError;

constexpr Duration kTroubleFor = seconds(3);
constexpr Duration kQuietFor = seconds(4);
constexpr Duration kRecoveredAfter = seconds(2);  // After the last misfortune.
constexpr std::size_t kNodes = 3;

core::Quota QuotaOf(Units limit) {
  core::Quota quota;
  quota.algorithm = core::Algorithm::kFixedWindow;
  quota.limit = limit;
  quota.window = std::chrono::hours(1);
  return quota;
}

}  // namespace

World::World(std::uint64_t seed, Faults faults)
    : random_(seed), faults_(faults), server_(limit_), key_("k"), quiet_from_(now_ + kTroubleFor) {
  for (std::size_t i = 0; i < kNodes; ++i) {
    nodes_.push_back(std::make_unique<Node>());
    nodes_.back()->channel = std::make_unique<Channel>(
        ChannelSettings{}, clock_, metrics_, [](bool, const std::string&) {}, random_());
  }
}

World::~World() = default;

void World::PlantForTest() {
  for (const auto& node : nodes_) {
    node->channel->ResendLostForTest();
  }
}

std::int64_t World::Draw(std::int64_t below) {
  return std::uniform_int_distribution<std::int64_t>(0, below - 1)(random_);
}

// Mostly well below a call's deadline, sometimes far above.
Duration World::Delay() {
  if (now_ < quiet_from_ && Chance(30)) {
    return microseconds(Draw(60'000));
  }
  return microseconds(50 + Draw(900));
}

void World::At(Time when, std::function<void()> run) {
  queue_.push({.at = when, .number = ++events_, .run = std::move(run)});
}

void World::Complain(std::string problem) {
  if (problem_.empty()) {
    problem_ = std::move(problem);
  }
}

void World::Pump(Node& node) {
  Channel& channel = *node.channel;
  if (node.connection != nullptr && channel.WantsClose()) {
    Drop(node, "the channel wanted it");
    return;
  }
  if (node.connection != nullptr) {
    if (channel.HasOutput()) {
      std::string bytes;
      channel.TakeOutput(bytes);
      Carry(node.connection, node, std::move(bytes), /*to_server=*/true);
    }
  } else if (!node.dialing && channel.WantsDial(now_)) {
    Dial(node);
  }
  const Time next = std::max(channel.NextWake(), now_ + microseconds(1));
  if (next < node.wake_at && next < now_ + std::chrono::hours(1)) {
    node.wake_at = next;
    At(next, [this, &node, next] {
      if (node.wake_at == next) {
        node.wake_at = Time::max();
        node.channel->OnWake(now_);
        Pump(node);
      }
    });
  }
}

void World::Dial(Node& node) {
  node.dialing = true;
  node.channel->OnDialing();
  At(now_ + Delay(), [this, &node] {
    node.dialing = false;
    if (!there_ || !node.reachable) {
      node.channel->OnLost("nobody is there", now_);
    } else {
      node.connection = std::make_shared<Connection>();
      node.channel->OnConnected({}, now_);
    }
    Pump(node);
  });
}

void World::Drop(Node& node, const char* why) {
  node.connection->node_open = false;
  // What is on its way may still arrive, and run.
  node.connection->server_open = Chance(500);
  node.connection = nullptr;
  node.channel->OnLost(why, now_);
  Pump(node);
}

void World::Carry(const std::shared_ptr<Connection>& connection, Node& node, std::string bytes,
                  bool to_server) {
  Time& last = to_server ? connection->to_server : connection->to_node;
  std::size_t at = 0;
  while (at < bytes.size()) {
    const std::size_t left = bytes.size() - at;
    const std::size_t size =
        Chance(100) ? 1 + static_cast<std::size_t>(Draw(static_cast<std::int64_t>(left))) : left;
    last = std::max(last, now_ + Delay());
    At(last, [this, connection, &node, piece = bytes.substr(at, size), to_server] {
      if (to_server) {
        connection->inbox += piece;
        Serve(connection, node);
      } else if (connection->node_open) {
        node.channel->OnInput(piece, now_);
        Pump(node);
      }
    });
    at += size;
  }
}

void World::Serve(const std::shared_ptr<Connection>& connection, Node& node) {
  if (!connection->server_open || !there_ || connection->waits) {
    return;
  }
  if (now_ < stalled_until_) {
    connection->waits = true;
    At(stalled_until_, [this, connection, &node] {
      connection->waits = false;
      Serve(connection, node);
    });
    return;
  }
  connection->parser.Append(connection->inbox);
  connection->inbox.clear();
  std::string replies;
  while (connection->parser.Next() == wire::RespCommandParser::Event::kCommand) {
    replies += server_.Run(connection->parser, now_, microseconds(Draw(20'000)));
  }
  if (!replies.empty()) {
    Carry(connection, node, std::move(replies), /*to_server=*/false);
  }
}

void World::Ask(Node& node) {
  Call& call = calls_.emplace_back();
  call.world = this;
  call.own_checks.push_back({.key = key_.view(), .quota = QuotaOf(limit_), .cost = {}});
  call.own_answers.resize(1);
  call.checks = call.own_checks;
  call.answers = call.own_answers;
  call.answer_by = now_ + ChannelSettings{}.deadline;
  node.channel->Send(Channel::Kind::kCheck, call, now_);
  Pump(node);
}

void World::OnAnswered(Call& call) {
  if (++call.answers_got > 1) {
    Complain("a call was answered twice");
  }
  if (now_ > call.answer_by + milliseconds(1)) {
    Complain(fmt::format("a call was answered {} us late",
                         std::chrono::duration_cast<microseconds>(now_ - call.answer_by).count()));
  }
  if (call.error == StoreError::kNone) {
    admitted_ += call.own_answers[0].decision.allowed ? 1 : 0;
    answered_after_ += now_ > quiet_from_ + kRecoveredAfter ? 1 : 0;
  } else if (call.error == StoreError::kUnavailable) {
    ++perhaps_;
  }
  if (call.error != StoreError::kNone && now_ > quiet_from_ + kRecoveredAfter) {
    Complain("a call failed long after the last misfortune");
  }
}

void World::CutAll() {
  for (const auto& node : nodes_) {
    if (node->connection != nullptr) {
      Drop(*node, "cut");
    }
  }
}

void World::Misfortune() {
  Node& node = *nodes_[static_cast<std::size_t>(Draw(kNodes))];
  const Duration lasts = milliseconds(Draw(700));
  switch (Draw(7)) {
    case 0:
      server_.FlushScripts();
      break;
    case 1:
      if (faults_.cuts && node.connection != nullptr) {
        Drop(node, "cut");
      }
      break;
    case 2:
      if (faults_.stalls) {
        stalled_until_ = std::max(stalled_until_, now_ + lasts / 4);
      }
      break;
    case 3:                // It is a replica for a while, or reads its data.
      if (faults_.cuts) {  // Its connections are left.
        server_.RefuseWith(Chance(500) ? "READONLY" : "LOADING");
        At(now_ + lasts, [this] { server_.RefuseWith(""); });
      }
      break;
    case 4:
      if (faults_.promotions) {
        CutAll();
        there_ = false;
        At(now_ + lasts, [this] {
          server_.Promote(now_);
          there_ = true;
        });
      }
      break;
    case 5:  // A partition: what is sent is lost, and after a while the connection too.
      if (faults_.cuts) {
        node.reachable = false;
        if (node.connection != nullptr) {
          node.connection->server_open = false;
        }
        At(now_ + lasts, [&node] { node.reachable = true; });
      }
      break;
    default:  // Restarted; it had its data on disk.
      if (faults_.cuts) {
        CutAll();
        there_ = false;
        server_.FlushScripts();
        At(now_ + lasts / 2, [this] { there_ = true; });
      }
      break;
  }
}

World::Report World::Run() {
  for (const auto& node : nodes_) {
    Pump(*node);
  }
  const Time end = quiet_from_ + kQuietFor;
  for (Time t = now_; t < end - seconds(1); t += microseconds(Draw(8'000))) {
    At(t, [this] { Ask(*nodes_[static_cast<std::size_t>(Draw(kNodes))]); });
  }
  for (Time t = now_; t < quiet_from_ - milliseconds(700); t += milliseconds(50 + Draw(400))) {
    At(t, [this] { Misfortune(); });
  }
  while (!queue_.empty() && queue_.top().at < end && problem_.empty()) {
    const Event event = queue_.top();
    queue_.pop();
    clock_.Advance(event.at - now_);
    now_ = event.at;
    event.run();
  }
  if (problem_.empty()) {
    const auto unanswered = std::ranges::count(calls_, 0, &Call::answers_got);
    const Units lost = server_.lost();
    if (unanswered != 0) {
      Complain(fmt::format("{} calls were never answered", unanswered));
    }
    if (admitted_ > limit_ + lost) {
      Complain(fmt::format("{} admitted of {}, with {} lost", admitted_, limit_, lost));
    }
    if (server_.charged() > admitted_ + perhaps_) {
      Complain(fmt::format("{} charges ran for {} calls that were admitted and {} of unknown fate",
                           server_.charged(), admitted_, perhaps_));
    }
    if (server_.used() + lost < admitted_) {
      Complain(fmt::format("{} admitted, and only {} used", admitted_, server_.used()));
    }
    if (!faults_.cuts && !faults_.promotions && server_.used() != admitted_) {
      Complain(fmt::format("{} used for {} admitted: late charges did not all come back",
                           server_.used(), admitted_));
    }
    if (answered_after_ == 0) {
      Complain("nothing was answered after the last misfortune");
    }
    for (const auto& node : nodes_) {
      if (!node->channel->idle() || node->channel->breaker_open() || !node->channel->up()) {
        Complain("a channel did not come to rest");
      }
    }
  }
  return {.problem = problem_,
          .admitted = admitted_,
          .late = static_cast<Units>(metrics_.Read(RedisCount::kLateCharges))};
}

}  // namespace sluice::redis
