#include "redis/counting_call.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "base/assert.h"
#include "core/attempt_window.h"
#include "core/wide.h"

namespace sluice::redis {

namespace {

constexpr std::int64_t kNsPerSecond = 1'000'000'000;

// What has passed of the window that `wall_clock` lies in.
Duration Passed(const core::Quota& quota, WallInstant wall_clock) {
  return Duration(core::PastMultiple(wall_clock.time_since_epoch().count(), quota.window.count()));
}

void AppendStart(const core::Quota& quota, WallInstant wall_clock, std::string& out) {
  SLUICE_DCHECK(quota.window.count() % kNsPerSecond == 0);  // core::FaultOf() says so.
  const std::int64_t start = (wall_clock.time_since_epoch() - Passed(quota, wall_clock)).count();
  std::array<char, 24> text;  // NOLINT: to_chars writes it.
  out.append(text.data(),
             std::to_chars(text.data(), text.data() + text.size(), start / kNsPerSecond).ptr);
}

}  // namespace

CountingCalls::CountingCalls(Route& route, Route& seconds) : route_(route), seconds_(seconds) {}
CountingCalls::~CountingCalls() = default;

CountingCall& CountingCalls::Take() {
  if (free_.empty()) {
    all_.push_back(std::make_unique<CountingCall>(*this));
    return *all_.back();
  }
  CountingCall& call = *free_.back();
  free_.pop_back();
  return call;
}

Route& CountingCalls::Of(const core::Quota& quota) {
  return quota.window == std::chrono::seconds(1) ? seconds_ : route_;
}

void CountingCalls::Check(store::CheckCall& call, WallInstant wall_clock, Route::Time now) {
  Take().Check(call, wall_clock, now);
}

void CountingCalls::Refund(store::RefundCall& call, WallInstant wall_clock, Route::Time now) {
  Take().AskOne(call, CounterCall::Verb::kTakeBack, call.key, call.quota, call.units, wall_clock,
                now);
}

void CountingCalls::Reset(store::ResetCall& call, WallInstant wall_clock, Route::Time now) {
  Take().AskOne(call, CounterCall::Verb::kDrop, call.key, call.quota, 0, wall_clock, now);
}

void CountingCalls::Kick() {
  route_.Kick();
  if (&seconds_ != &route_) {
    seconds_.Kick();
  }
}

void CountingCall::Begin(store::StoreCall& call, WallInstant wall_clock) {
  call_ = &call;
  checks_ = nullptr;
  call.error = store::StoreError::kNone;
  call.now = wall_clock_ = wall_clock;
  used_ = 0;
  rest_.Clear();
}

CountingCall::Counter& CountingCall::Add(CounterCall::Verb verb, const core::KeyView& key,
                                         const core::Quota& quota, Units hits) {
  if (used_ == counters_.size()) {
    counters_.push_back(std::make_unique<Counter>(*this));
  }
  Counter& counter = *counters_[used_++];
  counter.verb = verb;
  counter.key = key.parts.front().value;
  AppendStart(quota, wall_clock_, counter.key);
  counter.hits = hits;
  counter.expiry_s = quota.window.count() / kNsPerSecond;
  counter.deadline = call_->deadline;
  counter.request = call_;
  counter.error = store::StoreError::kNone;
  return counter;
}

void CountingCall::Check(store::CheckCall& call, WallInstant wall_clock, Route::Time now) {
  Begin(call, wall_clock);
  checks_ = &call;
  for (std::size_t i = 0; i < call.checks.size(); ++i) {
    const store::Check& check = call.checks[i];
    if (!IsAsked(check)) {
      call.answers[i] = UnlimitedAnswer(check);
    } else if (IsCounter(check.quota)) {
      Add(call.peek ? CounterCall::Verb::kRead : CounterCall::Verb::kAdd, check.key, check.quota,
          check.cost.units)
          .place = i;
    } else {
      rest_.Add(check, i);
    }
  }
  rest_.Prepare(call);
  // Answers may come while others are being sent: the last one is ours.
  open_ = 1 + used_ + (rest_.empty() ? 0 : 1);
  for (std::size_t i = 0; i < used_; ++i) {
    Counter& counter = *counters_[i];
    calls_.Of(call.checks[counter.place].quota).Send(Request::Of<CounterVerb>(counter), now);
  }
  if (!rest_.empty()) {
    calls_.route_.Check(rest_, now);
  }
  OnPart();
}

void CountingCall::AskOne(store::StoreCall& call, CounterCall::Verb verb, const core::KeyView& key,
                          const core::Quota& quota, Units hits, WallInstant wall_clock,
                          Route::Time now) {
  Begin(call, wall_clock);
  open_ = 1;
  calls_.Of(quota).Send(Request::Of<CounterVerb>(Add(verb, key, quota, hits)), now);
}

void CountingCall::OnPart() {
  if (--open_ == 0) {
    Finish();
  }
}

void CountingCall::Finish() {
  if (checks_ == nullptr) {
    call_->error = counters_.front()->error;
  } else {
    for (std::size_t i = 0; i < used_; ++i) {
      Answer(*counters_[i], checks_->answers[counters_[i]->place]);
    }
    rest_.CopyAnswers(*checks_);
  }
  store::StoreCall* const call = call_;
  calls_.free_.push_back(this);  // A callback may send a new call at once.
  call->OnAnswered();
}

void CountingCall::Answer(const Counter& counter, store::CheckAnswer& answer) const {
  const store::Check& check = checks_->checks[counter.place];
  answer = {};
  answer.error = counter.error;
  if (counter.error != store::StoreError::kNone) {
    return;
  }
  const Units before = counter.count - (checks_->peek ? 0 : check.cost.units);
  answer.decision = core::JudgeAttemptWindow(check.quota, before, check.cost,
                                             check.quota.window - Passed(check.quota, wall_clock_));
  answer.decision.shadow = check.shadow;
  answer.charged = !checks_->peek;
  if (answer.charged && answer.decision.allowed) {
    answer.decision.remaining -= check.cost.units;
  }
}

}  // namespace sluice::redis
