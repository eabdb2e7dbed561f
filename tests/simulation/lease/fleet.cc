#include "simulation/lease/fleet.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace sluice::lease {

namespace {

using std::chrono::milliseconds;

constexpr Units kExactLimit = 300;
constexpr Units kLocalLimit = 200;

std::unique_ptr<store::Table> MakeTable(const base::Clock& clock) {
  auto table = store::Table::Create({.path = "", .keys = 1024, .huge_pages = false}, clock);
  return *std::move(table);
}

core::Quota WindowOf(Units limit, Duration window) {
  core::Quota quota;
  quota.algorithm = core::Algorithm::kFixedWindow;
  quota.limit = limit;
  quota.window = window;
  return quota;
}

}  // namespace

Fleet::Fleet(std::uint64_t seed, const Plan& plan)
    : plan_(plan), random_(seed), shared_(MakeTable(clock_)), nodes_count_(plan.nodes) {
  for (int i = 0; i < plan_.nodes; ++i) {
    nodes_.push_back(std::make_unique<Node>());
    Boot(*nodes_.back());
  }
}

Fleet::~Fleet() {
  for (const auto& node : nodes_) {
    node->wire->Cut();
    node->book.reset();
    node->store.reset();
  }
}

std::int64_t Fleet::Draw(std::int64_t below) {
  return static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(below));
}

void Fleet::After(Duration wait, std::function<void()> run) {
  events_.push({.at = Now() + wait, .number = next_event_++, .run = std::move(run)});
}

// Or again: what the node before held is nobody's.
void Fleet::Boot(Node& node) {
  if (node.wire != nullptr) {
    retired_calls_ += node.wire->calls();
    node.wire->Cut();
    node.book.reset();
    node.store.reset();
  }
  if (node.local == nullptr) {
    node.local = MakeTable(clock_);
  }
  node.wire = std::make_unique<SlowWire>(
      *shared_, plan_.faults, random_,
      [this](Duration after, std::function<void()> work) { After(after, std::move(work)); });
  node.store = std::make_unique<LeaseStore>(*node.wire, *node.local, nodes_count_, clock_,
                                            LeaseSettings{.keys = 64});
  node.book = node.store->Attach(nullptr);
}

void Fleet::Arrive() {
  const core::Quota& quota = plan_.quota;
  const double granted = static_cast<double>(core::LimitPerWindow(quota)) /
                         std::chrono::duration<double>(quota.window).count();
  const double mean_cost = static_cast<double>(plan_.largest_cost + 1) / 2;
  const double rate = plan_.offered * granted / mean_cost;
  const double drawn = (static_cast<double>(random_() >> 11U) + 1) * 0x1p-53;
  const auto gap =
      std::chrono::duration_cast<Duration>(std::chrono::duration<double>(-std::log(drawn) / rate));
  After(gap, [this] {
    if (Now() < ends_) {
      const bool to_hot = static_cast<double>(Draw(1000)) < plan_.hot * 1000;
      Node& node = *nodes_[to_hot ? 0 : static_cast<std::size_t>(Draw(plan_.nodes))];
      if (node.pause_until <= Now()) {
        Send(node);
      }
      Arrive();
    }
  });
}

void Fleet::TickAll() {
  After(Borrower::kTick, [this] {
    for (const auto& node : nodes_) {
      node->book->Tick();
      if (Draw(1000) < plan_.pauses_per_thousand) {
        node->pause_until = Now() + Duration(Draw(plan_.quota.window.count()));
      }
      if (Draw(1000) < plan_.restarts_per_thousand) {
        Boot(*node);
      }
    }
    if (Now() < ends_) {
      TickAll();
    }
  });
}

void Fleet::Send(Node& node) {
  if (free_.empty()) {
    free_.push_back(std::make_unique<Request>());
  }
  Request& request = *free_.back().release();
  free_.pop_back();
  request.fleet = this;
  request.error = store::StoreError::kNone;
  const Cost cost{1 + Draw(plan_.largest_cost)};
  request.own_checks = {
      {.key = key_.view(), .quota = plan_.quota, .cost = cost, .sync = core::Sync::kLease}};
  const WallInstant wall_clock = clock_.Read().wall_clock;
  const Duration left = plan_.quota.window - wall_clock.time_since_epoch() % plan_.quota.window;
  // Not near a window's end, where it could not be told in which window which check was decided.
  if (plan_.with_others && left > milliseconds(100) && Draw(3) == 0) {
    request.own_checks.push_back(
        {.key = exact_key_.view(), .quota = WindowOf(kExactLimit, plan_.quota.window), .cost = {}});
    if (Draw(2) == 0) {
      request.own_checks.push_back({.key = local_key_.view(),
                                    .quota = WindowOf(kLocalLimit, plan_.quota.window),
                                    .cost = {},
                                    .sync = core::Sync::kLocal});
    }
    std::ranges::shuffle(request.own_checks, random_);
  }
  request.own_answers.assign(request.own_checks.size(), {});
  request.checks = request.own_checks;
  request.answers = request.own_answers;
  request.sent = wall_clock;
  request.sending = true;
  offered_[WindowAt(wall_clock)] += cost.units;
  ++open_;
  ++report_.decisions;
  store::CheckCall* const one = &request;
  node.store->CheckMany({&one, 1});
  request.sending = false;  // Of one that was answered too: it waits for its next use.
}

void Fleet::OnAnswered(Request& request) {
  --open_;
  // Decided during the verb: now. Else by the store, when it says.
  const WallInstant wall_clock = clock_.Read().wall_clock;
  const WallInstant decided = request.sending ? wall_clock : request.now;
  bool denied = false;
  bool failed = request.error != store::StoreError::kNone;
  for (const store::CheckAnswer& answer : request.answers) {
    failed |= answer.error != store::StoreError::kNone;
    denied |= answer.error == store::StoreError::kNone && !answer.decision.allowed;
  }
  for (std::size_t i = 0; request.error == store::StoreError::kNone && i < request.checks.size();
       ++i) {
    const store::Check& check = request.checks[i];
    const store::CheckAnswer& answer = request.answers[i];
    if (answer.error != store::StoreError::kNone) {
      continue;
    }
    if (denied && answer.charged && !failed) {
      Complain("a request is denied, and its check " + std::to_string(i) + " charged");
    }
    if (answer.decision.remaining < 0 || answer.decision.remaining > answer.decision.limit ||
        answer.decision.reset_after < Duration(0)) {
      Complain("an answer has impossible numbers");
    }
    // Of several checks, one may have been decided at the start and another at the end.
    const bool is_unclear =
        request.checks.size() > 1 && WindowAt(request.sent) != WindowAt(decided);
    if (!answer.charged || is_unclear) {
      continue;
    }
    if (check.key.rule == "lent") {
      report_.admitted += check.cost.units;
      admitted_[WindowAt(decided)] += check.cost.units;
      passed_.emplace_back(decided.time_since_epoch(), check.cost.units);
    } else if (check.key.rule == "exact") {
      exact_admitted_[WindowAt(decided)] += check.cost.units;
    }
  }
  request.fleet = nullptr;
  free_.emplace_back(&request);
}

void Fleet::Complain(std::string problem) {
  if (report_.problem.empty()) {
    report_.problem = std::move(problem);
  }
}

void Fleet::Judge() {
  if (open_ != 0) {
    Complain(std::to_string(open_) + " requests were not answered");
  }
  if (plan_.quota.algorithm == core::Algorithm::kFixedWindow) {
    for (const auto& [window, units] : admitted_) {
      if (units > plan_.quota.limit) {
        Complain("a window admitted " + std::to_string(units) + " of " +
                 std::to_string(plan_.quota.limit));
      }
      report_.possible += std::min(offered_[window], plan_.quota.limit);
    }
    for (const auto& [window, units] : exact_admitted_) {
      if (units > kExactLimit) {
        Complain("the exact rule admitted " + std::to_string(units));
      }
    }
    return;
  }
  // What is owed to the bucket at most: the quota's promise, whatever the order of answers.
  std::ranges::sort(passed_);
  const double refill = static_cast<double>(plan_.quota.rate) /
                        std::chrono::duration<double>(plan_.quota.window).count();
  double owed = 0;
  Duration last{};
  for (const auto& [at, units] : passed_) {
    owed = std::max(0.0, owed - refill * std::chrono::duration<double>(at - last).count());
    owed += static_cast<double>(units);
    last = at;
    report_.most_over = std::max(report_.most_over, static_cast<Units>(owed) - plan_.quota.limit);
  }
}

Fleet::Report Fleet::Run() {
  const Duration past = clock_.Read().wall_clock.time_since_epoch() % plan_.quota.window;
  ends_ = Now() + plan_.windows * plan_.quota.window - past;
  Arrive();
  TickAll();
  while (!events_.empty()) {
    const Event event = events_.top();
    events_.pop();
    clock_.Advance(event.at - Now());
    event.run();
  }
  Judge();
  report_.calls = retired_calls_;
  for (const auto& node : nodes_) {
    report_.calls += node->wire->calls();
    report_.given_back += node->store->metrics().Read(LeaseCount::kGivenBackUnits);
  }
  return report_;
}

}  // namespace sluice::lease
