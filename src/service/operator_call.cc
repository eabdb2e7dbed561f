#include "service/operator_call.h"

#include <algorithm>
#include <chrono>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "service/limiter_service.h"

namespace sluice::service {

// One operator call under way: the store calls it was split into, and what their keys point
// into.
struct OperatorCall::Work {
  std::shared_ptr<const ActiveRules> active;
  rules::Matches matches;
  std::vector<std::unique_ptr<store::StoreCall>> parts;
  std::deque<std::vector<std::string>> former_ids;  // What the keys of parts point into.
  RuleHistory::Time now = std::chrono::steady_clock::now();

  // Also by what a rule was called in sets before this one: a receipt of then is still taken, and
  // would bring what lies there to the key.
  core::KeyView KeyOf(const rules::AppliedRule& applied) {
    former_ids.push_back(active->history.FormerIds(*applied.rule));
    return {.rule = applied.rule->id, .formerly = former_ids.back(), .parts = applied.parts};
  }
  // One more than the store calls open while they are being sent, so that the last to be
  // answered is not taken for the last of all.
  std::size_t open = 1;
};

namespace {

// A store call that reports to `done`.
template <class StoreVerbCall, class Done>
class Part final : public StoreVerbCall {
 public:
  explicit Part(Done done) : done_(std::move(done)) {}
  void OnAnswered() noexcept override { done_(this->error); }

 private:
  Done done_;
};

}  // namespace

OperatorCall::OperatorCall() = default;
OperatorCall::~OperatorCall() = default;

template <class StoreVerb>
void LimiterService::ForEachRule(OperatorCall& call, StoreVerb verb) {
  call.touched = 0;
  call.error = store::StoreError::kNone;
  call.request_error.clear();
  call.work_ = std::make_unique<OperatorCall::Work>();
  OperatorCall::Work& work = *call.work_;
  work.active = published_.Get();

  const auto close_one = [&call, &work] {
    if (--work.open == 0) {
      call.OnDone();  // The call may be gone now.
    }
  };
  const rules::Rule* const only =
      call.only_rule.empty() ? nullptr : FindRule(*work.active, call.only_rule);
  if (!call.only_rule.empty() && only == nullptr) {
    call.request_error = NoSuchRule(call.only_rule);
  } else if (work.active->rules != nullptr) {
    // Cost 0: neither verb spends.
    if (Result<void> matched = work.active->rules->Match(
            call.attributes, Cost{.units = 0}, work.active->modes, work.matches,
            {.absent_cost = rules::AbsentCost::kIsTheCalls,
             .only = only,
             .secrets = rules::Secrets::kMayBeHashes,
             .by_key = true});
        !matched) {
      call.request_error = std::move(matched.error().message);
    } else {
      const auto answered = [&call, close_one](store::StoreError error) {
        if (error == store::StoreError::kNone) {
          ++call.touched;
        } else {
          call.error = error;
        }
        close_one();
      };
      for (const rules::AppliedRule& applied : work.matches.applied()) {
        if (!applied.key_missing) {
          ++work.open;
          verb(applied, answered, work);
        }
      }
    }
  }
  close_one();
}

void LimiterService::Refund(OperatorCall& call) {
  ForEachRule(call, [this, units = call.units](const rules::AppliedRule& applied, auto answered,
                                               auto& work) {
    auto part = std::make_unique<Part<store::RefundCall, decltype(answered)>>(answered);
    store::RefundCall& refund = *part;
    work.parts.push_back(std::move(part));
    refund.key = work.KeyOf(applied);
    refund.quota = applied.quota;
    refund.units = units;
    refund.sync = applied.rule->sync;
    if (fallback_ != nullptr) {
      fallback_->Forget(refund.key, refund.quota);
    }
    store_.Refund(refund);
  });
}

void LimiterService::Reset(OperatorCall& call) {
  ForEachRule(call, [this](const rules::AppliedRule& applied, auto answered, auto& work) {
    auto part = std::make_unique<Part<store::ResetCall, decltype(answered)>>(answered);
    store::ResetCall& reset = *part;
    work.parts.push_back(std::move(part));
    reset.key = work.KeyOf(applied);
    reset.quota = applied.quota;
    // A receipt that is out may have the numbers of an earlier set of rules.
    reset.counts_for = std::max(applied.rule->longest_refill,
                                work.active->history.ChargesCountFor(*applied.rule, work.now));
    reset.sync = applied.rule->sync;
    if (fallback_ != nullptr) {
      fallback_->Reset(reset.key, reset.quota);
    }
    store_.Reset(reset);
  });
}

void LimiterService::Unban(OperatorCall& call) {
  ForEachRule(call, [this](const rules::AppliedRule& applied, auto answered, auto& work) {
    auto part = std::make_unique<Part<store::BanCall, decltype(answered)>>(answered);
    store::BanCall& ban = *part;
    work.parts.push_back(std::move(part));
    ban.key = work.KeyOf(applied);
    if (fallback_ != nullptr) {
      fallback_->Unban(ban.key, applied.quota);
    }
    store_.Unban(ban);
  });
}

void HolderCall::OnAnswered() noexcept {
  const std::shared_ptr<const void> kept = std::move(kept_);
  OnDone();
}

}  // namespace sluice::service
