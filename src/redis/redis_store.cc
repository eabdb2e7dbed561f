#include "redis/redis_store.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/assert.h"
#include "base/random.h"
#include "redis/check_request.h"
#include "redis/key_requests.h"

namespace sluice::redis {

namespace {

// What no rule may name has no script, and an attempt window needs none: throttle is left.
bool HasScript(const core::Quota& quota) {
  return core::TraitsOf(quota.algorithm).in_rules;
}

// A counter is named by the one value of its key.
bool IsNamedCounter(const core::KeyView& key, const core::Quota& quota) {
  return quota.algorithm == core::Algorithm::kAttemptWindow && key.parts.size() == 1;
}

bool MayBeOurs(const store::HoldCall& call) {
  return core::HasHolds(call.quota.algorithm) &&
         (call.store_id == 0 || call.store_id == store::kSharedStoreId);
}

}  // namespace

RedisStore::RedisStore(RedisSettings settings, const base::Clock& clock, Channel::OnEvent on_event,
                       std::optional<RedisSettings> seconds)
    : settings_(std::move(settings)),
      seconds_settings_(std::move(seconds)),
      clock_(clock),
      on_event_(std::move(on_event)),
      metrics_(seconds_settings_.has_value()) {
  if (seconds_settings_) {
    seconds_settings_->channel.server = RedisServer::kPerSecond;
  }
}

RedisStore::~RedisStore() = default;

RedisStore::Attachment::Attachment(RedisStore& store, net::EventLoop& loop)
    : store_(store),
      route_(MakeRoute(loop, store.settings_, store.clock_, store.metrics_, store.on_event_)) {
  if (store_.seconds_settings_) {
    seconds_ = MakeRoute(loop, *store_.seconds_settings_, store_.clock_, store_.metrics_,
                         store_.on_event_);
  }
  counting_ = std::make_unique<CountingCalls>(*route_, seconds_ ? *seconds_ : *route_);
  if (store_.settings_.count_nodes && !store_.joined_.exchange(true)) {
    route_->Join(fmt::format("{:016x}", base::UniqueNumber()), store_.nodes_);
  }
  if (store_.settings_.on_secret && !store_.asks_for_secret_.exchange(true)) {
    secret_ = std::make_unique<SharedSecret>(loop, *route_, store_.settings_.on_secret,
                                             store_.settings_.secret_every);
  }
  place_ = store_.attached_.Add(*this);
}

RedisStore::Attachment::~Attachment() {
  store_.attached_.Remove(place_);
}

RedisStore::Attachment* RedisStore::Own() const {
  return attached_.Find([](const Attachment& attached) { return attached.route_->RunsHere(); });
}

bool RedisStore::Prepare(store::CheckCall& call, const base::Clock& clock) {
  SLUICE_ASSERT(call.answers.size() == call.checks.size());
  call.error = store::StoreError::kNone;
  std::ranges::fill(call.answers, store::CheckAnswer{});
  const auto is_supported = [&call](const store::Check& check) {
    const bool alone = call.atomicity == store::Atomicity::kEach || call.checks.size() == 1;
    return HasScript(check.quota) ||
           (IsNamedCounter(check.key, check.quota) && (alone || call.peek));
  };
  if (call.checks.size() > store::kMaxChecksPerCall ||
      !std::ranges::all_of(call.checks, is_supported)) {
    call.error = store::StoreError::kUnsupported;
    return false;
  }
  if (std::ranges::any_of(call.checks, IsAsked)) {
    return true;
  }
  std::ranges::transform(call.checks, call.answers.begin(), UnlimitedAnswer);
  call.now = clock.Read().wall_clock;
  return false;
}

void RedisStore::CheckMany(std::span<store::CheckCall* const> batch) {
  Attachment* const own = Own();
  const Route::Time now = std::chrono::steady_clock::now();
  for (store::CheckCall* const call : batch) {
    if (!Prepare(*call, clock_)) {
      call->OnAnswered();
    } else if (own == nullptr) {
      call->error = store::StoreError::kDidNotRun;
      call->OnAnswered();
    } else if (std::ranges::any_of(call->checks, IsCounter, &store::Check::quota)) {
      own->counting_->Check(*call, clock_.Read().wall_clock, now);
    } else {
      own->route_->Check(*call, now);
    }
  }
  if (own != nullptr) {
    own->counting_->Kick();
  }
}

template <class Send>
void RedisStore::Ask(store::StoreCall& call, Send send) {
  Attachment* const own = Own();
  if (own == nullptr) {
    call.error = store::StoreError::kDidNotRun;
    call.OnAnswered();
    return;
  }
  send(*own, std::chrono::steady_clock::now());
  own->counting_->Kick();
}

template <class Verb>
void RedisStore::Ask(typename Verb::Call& call) {
  Ask(call,
      [&](Attachment& own, Route::Time now) { own.route_->Send(Request::Of<Verb>(call), now); });
}

void RedisStore::Refund(store::RefundCall& call) {
  const bool is_counter = IsNamedCounter(call.key, call.quota);
  if (core::HasHolds(call.quota.algorithm) || !(HasScript(call.quota) || is_counter)) {
    call.error = store::StoreError::kUnsupported;  // Holds are released, not refunded.
    call.OnAnswered();
  } else if (call.units <= 0 || call.quota.unlimited) {
    call.error = store::StoreError::kNone;
    call.OnAnswered();
  } else if (is_counter) {
    Ask(call, [&](Attachment& own, Route::Time now) {
      own.counting_->Refund(call, clock_.Read().wall_clock, now);
    });
  } else {
    Ask<RefundVerb>(call);
  }
}

void RedisStore::Settle(store::SettleCall& call) {
  if (core::HasHolds(call.quota.algorithm) || !HasScript(call.quota)) {
    call.error = store::StoreError::kUnsupported;  // Holds are released, not settled.
    call.OnAnswered();
  } else if (call.quota.unlimited || call.units < 0 || call.charged < 0 ||
             !IsPossible(call.receipt)) {
    call.error = store::StoreError::kNotFound;
    call.OnAnswered();
  } else {
    Ask<SettleVerb>(call);
  }
}

void RedisStore::Reset(store::ResetCall& call) {
  if (HasScript(call.quota)) {
    Ask<ResetVerb>(call);
  } else if (IsNamedCounter(call.key, call.quota)) {
    Ask(call, [&](Attachment& own, Route::Time now) {
      own.counting_->Reset(call, clock_.Read().wall_clock, now);
    });
  } else {
    call.error = store::StoreError::kUnsupported;
    call.OnAnswered();
  }
}

void RedisStore::Ban(store::BanCall& call) {
  Ask<BanVerb>(call);
}

void RedisStore::Unban(store::BanCall& call) {
  Ask<UnbanVerb>(call);
}

void RedisStore::ListBans(store::BansCall& call) {
  call.bans.clear();
  Ask(call, [&](Attachment& own, Route::Time now) { own.route_->ListBans(call, now); });
}

void RedisStore::Claim(store::RecordCall& call) {
  call.verb = store::RecordCall::Verb::kClaim;
  Ask<RecordVerb>(call);
}

void RedisStore::Keep(store::RecordCall& call) {
  call.verb = store::RecordCall::Verb::kKeep;
  Ask<RecordVerb>(call);
}

void RedisStore::Drop(store::RecordCall& call) {
  call.verb = store::RecordCall::Verb::kDrop;
  Ask<RecordVerb>(call);
}

void RedisStore::Release(store::HoldCall& call) {
  if (!MayBeOurs(call)) {
    call.error = store::StoreError::kNotFound;
    call.OnAnswered();
  } else {
    Ask<ReleaseVerb>(call);
  }
}

void RedisStore::Renew(store::HoldCall& call) {
  if (!MayBeOurs(call)) {
    call.error = store::StoreError::kNotFound;
    call.OnAnswered();
  } else {
    Ask<RenewVerb>(call);
  }
}

}  // namespace sluice::redis
