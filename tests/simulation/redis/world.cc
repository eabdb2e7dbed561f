#include "simulation/redis/world.h"

#include <algorithm>

#include <fmt/format.h>

#include "redis/check_request.h"

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
    : network_(seed, kTroubleFor), faults_(faults), server_(limit_), key_("k") {
  for (std::size_t i = 0; i < kNodes; ++i) {
    nodes_.push_back(std::make_unique<Node>());
    Node& node = *nodes_.back();
    node.channel = std::make_unique<Channel>(
        ChannelSettings{}, network_.clock(), metrics_, [](bool, const std::string&) {},
        network_.DrawSeed());
    node.line = std::make_unique<Line>(network_, *node.channel, static_cast<Host&>(*this));
  }
}

World::~World() = default;

void World::PlantForTest() {
  for (const auto& node : nodes_) {
    node->channel->ResendLostForTest();
  }
}

void World::Complain(std::string problem) {
  if (problem_.empty()) {
    problem_ = std::move(problem);
  }
}

std::string World::Execute(const wire::RespCommandParser& command, Session& /*session*/) {
  return server_.Run(command, network_.now(), microseconds(network_.Draw(20'000)));
}

void World::Ask(Node& node) {
  Call& call = calls_.emplace_back();
  call.world = this;
  call.own_checks.push_back({.key = key_.view(), .quota = QuotaOf(limit_), .cost = {}});
  call.own_answers.resize(1);
  call.checks = call.own_checks;
  call.answers = call.own_answers;
  call.answer_by = network_.now() + ChannelSettings{}.deadline;
  node.channel->Send(Request::Of<CheckVerb>(call), network_.now());
  node.line->Pump();
}

void World::OnAnswered(Call& call) {
  const Time now = network_.now();
  const bool is_quiet = now > network_.quiet_from() + kRecoveredAfter;
  if (++call.answers_got > 1) {
    Complain("a call was answered twice");
  }
  if (now > call.answer_by + milliseconds(1)) {
    Complain(fmt::format("a call was answered {} us late",
                         std::chrono::duration_cast<microseconds>(now - call.answer_by).count()));
  }
  if (call.error == StoreError::kNone) {
    admitted_ += call.own_answers[0].decision.allowed ? 1 : 0;
    answered_after_ += is_quiet ? 1 : 0;
  } else if (call.error == StoreError::kUnavailable) {
    ++perhaps_;
  }
  if (call.error != StoreError::kNone && is_quiet) {
    Complain("a call failed long after the last misfortune");
  }
}

void World::CutAll() {
  for (const auto& node : nodes_) {
    node->line->Drop("cut");
  }
}

void World::Misfortune() {
  const Time now = network_.now();
  Node& node = *nodes_[static_cast<std::size_t>(network_.Draw(kNodes))];
  const Duration lasts = milliseconds(network_.Draw(700));
  switch (network_.Draw(7)) {
    case 0:
      server_.FlushScripts();
      break;
    case 1:
      if (faults_.cuts) {
        node.line->Drop("cut");
      }
      break;
    case 2:
      if (faults_.stalls) {
        stalled_until = std::max(stalled_until, now + lasts / 4);
      }
      break;
    case 3:                // It is a replica for a while, or reads its data.
      if (faults_.cuts) {  // Its connections are left.
        server_.RefuseWith(network_.Chance(500) ? "READONLY" : "LOADING");
        network_.At(now + lasts, [this] { server_.RefuseWith(""); });
      }
      break;
    case 4:
      if (faults_.promotions) {
        CutAll();
        there = false;
        network_.At(now + lasts, [this] {
          server_.Promote(network_.now());
          there = true;
        });
      }
      break;
    case 5:  // A partition: what is sent is lost, and after a while the connection too.
      if (faults_.cuts) {
        node.line->Cut();
        network_.At(now + lasts, [&node] { node.line->Mend(); });
      }
      break;
    default:  // Restarted; it had its data on disk.
      if (faults_.cuts) {
        CutAll();
        there = false;
        server_.FlushScripts();
        network_.At(now + lasts / 2, [this] { there = true; });
      }
      break;
  }
}

World::Report World::Run() {
  for (const auto& node : nodes_) {
    node->line->Pump();
  }
  const Time end = network_.quiet_from() + kQuietFor;
  for (Time t = network_.now(); t < end - seconds(1); t += microseconds(network_.Draw(8'000))) {
    network_.At(t, [this] { Ask(*nodes_[static_cast<std::size_t>(network_.Draw(kNodes))]); });
  }
  for (Time t = network_.now(); t < network_.quiet_from() - milliseconds(700);
       t += milliseconds(50 + network_.Draw(400))) {
    network_.At(t, [this] { Misfortune(); });
  }
  while (problem_.empty() && network_.Step(end)) {
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
