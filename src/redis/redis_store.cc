#include "redis/redis_store.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/assert.h"
#include "redis/cluster_route.h"
#include "redis/command_writer.h"
#include "redis/reply_reader.h"
#include "redis/server_route.h"
#include "store/table_core.h"

namespace sluice::redis {

namespace {

// What no rule may name has no script: throttle, tally.
bool IsSupported(const core::Quota& quota) {
  return static_cast<int>(quota.algorithm) < core::kAlgorithmCount;
}

}  // namespace

RedisStore::RedisStore(RedisSettings settings, const base::Clock& clock, Channel::OnEvent on_event)
    : settings_(std::move(settings)), clock_(clock), on_event_(std::move(on_event)) {}

RedisStore::~RedisStore() {
  for (const std::atomic<Route*>& route : routes_) {
    SLUICE_ASSERT(route.load(std::memory_order_relaxed) == nullptr);
  }
}

RedisStore::Attachment::Attachment(RedisStore& store, net::EventLoop& loop)
    : store_(store), route_(store.MakeRoute(loop)) {
  if (store_.settings_.count_nodes && !store_.joined_.exchange(true)) {
    route_->Join(fmt::format("{:016x}", store::NextNonce()), store_.nodes_);
  }
  const std::lock_guard lock(store_.attaching_);
  const auto free = std::ranges::find_if(store_.routes_, [](const std::atomic<Route*>& route) {
    return route.load(std::memory_order_relaxed) == nullptr;
  });
  SLUICE_ASSERT(free != store_.routes_.end());
  place_ = static_cast<std::size_t>(free - store_.routes_.begin());
  free->store(route_.get(), std::memory_order_release);
  store_.places_.store(std::max(store_.places_.load(std::memory_order_relaxed), place_ + 1),
                       std::memory_order_release);
}

RedisStore::Attachment::~Attachment() {
  store_.routes_[place_].store(nullptr, std::memory_order_release);
}

// A route is used by the thread that makes and destroys it, or before its loop runs and after: who
// finds its own here finds it alive.
Route* RedisStore::OwnRoute() const {
  const std::size_t places = places_.load(std::memory_order_acquire);
  Route* only = nullptr;
  for (std::size_t i = 0; i < places; ++i) {
    Route* const route = routes_[i].load(std::memory_order_acquire);
    if (route != nullptr && (places == 1 || route->RunsHere())) {
      only = route;
      break;
    }
  }
  return only;
}

std::unique_ptr<Route> RedisStore::MakeRoute(net::EventLoop& loop) {
  if (!settings_.cluster.empty()) {
    return std::make_unique<ClusterRoute>(loop, settings_, clock_, metrics_, on_event_);
  }
  return std::make_unique<ServerRoute>(loop, settings_, clock_, metrics_, on_event_);
}

bool RedisStore::Prepare(store::CheckCall& call, const base::Clock& clock) {
  SLUICE_ASSERT(call.answers.size() == call.checks.size());
  call.error = store::StoreError::kNone;
  std::ranges::fill(call.answers, store::CheckAnswer{});
  if (call.checks.size() > store::kMaxChecksPerCall || call.idempotency != nullptr ||
      !std::ranges::all_of(call.checks, IsSupported, &store::Check::quota)) {
    call.error = store::StoreError::kUnsupported;
    return false;
  }
  if (std::ranges::any_of(call.checks, IsAsked)) {
    return true;
  }
  std::ranges::transform(call.checks, call.answers.begin(), UnlimitedAnswer);
  call.now = clock.Read().wall;
  return false;
}

void RedisStore::CheckMany(std::span<store::CheckCall* const> batch) {
  Route* const route = OwnRoute();
  const Route::Time now = std::chrono::steady_clock::now();
  for (store::CheckCall* const call : batch) {
    if (!Prepare(*call, clock_)) {
      call->OnAnswered();
    } else if (route == nullptr) {
      call->error = store::StoreError::kDidNotRun;
      call->OnAnswered();
    } else {
      route->Check(*call, now);
    }
  }
  if (route != nullptr) {
    route->Kick();
  }
}

template <class Call>
void RedisStore::SendOne(Call& call, void (Route::*verb)(Call&, Route::Time)) {
  Route* const route = OwnRoute();
  if (route == nullptr) {
    call.error = store::StoreError::kDidNotRun;
    call.OnAnswered();
    return;
  }
  (route->*verb)(call, std::chrono::steady_clock::now());
  route->Kick();
}

void RedisStore::Refund(store::RefundCall& call) {
  if (call.quota.algorithm == core::Algorithm::kConcurrency || !IsSupported(call.quota)) {
    call.error = store::StoreError::kUnsupported;  // Holds are released, not refunded.
    call.OnAnswered();
  } else if (call.units <= 0 || call.quota.unlimited) {
    call.error = store::StoreError::kNone;
    call.OnAnswered();
  } else {
    SendOne(call, &Route::Refund);
  }
}

void RedisStore::Settle(store::SettleCall& call) {
  if (call.quota.algorithm == core::Algorithm::kConcurrency || !IsSupported(call.quota)) {
    call.error = store::StoreError::kUnsupported;  // Holds are released, not settled.
    call.OnAnswered();
  } else if (call.quota.unlimited || call.units < 0 || call.charged < 0 ||
             !IsPossible(call.receipt)) {
    call.error = store::StoreError::kNotFound;
    call.OnAnswered();
  } else {
    SendOne(call, &Route::Settle);
  }
}

void RedisStore::Reset(store::ResetCall& call) {
  if (IsSupported(call.quota)) {
    SendOne(call, &Route::Reset);
  } else {
    call.error = store::StoreError::kUnsupported;
    call.OnAnswered();
  }
}

void RedisStore::Ban(store::BanCall& call) {
  SendOne(call, &Route::Ban);
}

void RedisStore::Unban(store::BanCall& call) {
  SendOne(call, &Route::Unban);
}

void RedisStore::ListBans(store::BansCall& call) {
  call.bans.clear();
  SendOne(call, &Route::ListBans);
}

void RedisStore::Release(store::HoldCall& call) {
  if (call.quota.algorithm != core::Algorithm::kConcurrency) {
    call.error = store::StoreError::kNotFound;
    call.OnAnswered();
  } else {
    SendOne(call, &Route::Release);
  }
}

void RedisStore::Renew(store::HoldCall& call) {
  if (call.quota.algorithm != core::Algorithm::kConcurrency) {
    call.error = store::StoreError::kNotFound;
    call.OnAnswered();
  } else {
    SendOne(call, &Route::Renew);
  }
}

}  // namespace sluice::redis
