#include "service/decide_call.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

#include "service/batch_timer.h"
#include "service/failure_policy.h"
#include "service/take_back.h"

// The decision path: no allocation once warm, no lock, no log. tests/unit/service/
// allocation_test.cc holds it to that.
namespace sluice::service {

namespace {

// There is no key to ask about: the rule itself allows or denies, or says on_missing: deny and a
// key attribute is absent. Nothing that this request could wait for changes that.
Decision WithoutKey(rules::Action action, const core::Quota& quota) {
  Decision decision;
  if (action == rules::Action::kAllow) {
    decision.allowed = true;
    decision.limit = kUnlimited;
    decision.remaining = kUnlimited;
    return decision;
  }
  decision.allowed = false;
  decision.reason =
      action == rules::Action::kDeny ? Reason::kDenyListed : Reason::kAttributeMissing;
  decision.limit = quota.unlimited ? kUnlimited : quota.limit;
  decision.retry_after = Decision::kNever;
  return decision;
}

Outcome OutcomeOf(const Decision& decision) {
  if (decision.shadow) {
    return decision.allowed ? Outcome::kShadowAllowed : Outcome::kShadowDenied;
  }
  return decision.allowed ? Outcome::kAllowed : Outcome::kDenied;
}

}  // namespace

bool DecideCall::Begin(ActiveRulesPin& pin, ServiceMetrics& metrics, Fallback* fallback,
                       store::KeyStore& store) {
  pin_ = &pin;
  metrics_ = &metrics;
  fallback_ = fallback;
  store_ = &store;
  verdict.allowed = true;
  verdict.governing = -1;
  verdict.kill_switch = false;
  verdict.wait = Duration{};
  verdict.now = WallInstant{};
  verdict.decisions.clear();
  verdict.request_error.clear();
  checks_.clear();
  answers_.clear();
  room_.unanswered.clear();

  const ActiveRules& active = *pin;
  const rules::Rule* const only = only_rule.empty() ? nullptr : FindRule(active, only_rule);
  if (!only_rule.empty() && only == nullptr) {
    verdict.allowed = false;
    verdict.request_error = NoSuchRule(only_rule);
    return false;
  }
  if (active.rules == nullptr) {
    return false;
  }
  verdict.kill_switch = active.modes.all == rules::Mode::kOff;
  if (Result<void> matched =
          active.rules->Match(attributes, cost, active.modes, matches_,
                              {.absent_cost = absent_cost, .only = only, .secrets = secrets});
      !matched) {
    verdict.allowed = false;
    verdict.request_error = std::move(matched.error().message);
    return false;
  }

  bool refused = false;  // By a rule that denies, or needs an attribute which is not there.
  for (const rules::AppliedRule& applied : matches_.applied()) {
    if (applied.key_missing) {
      refused |= !applied.shadow && applied.rule->action != rules::Action::kAllow;
      continue;
    }
    checks_.push_back({.key = {.rule = applied.rule->id,
                               .formerly = applied.rule->formerly,
                               .parts = applied.parts},
                       .quota = applied.quota,
                       .cost = applied.cost,
                       .shadow = applied.shadow,
                       .want_receipt = want_receipts && !core::HasHolds(applied.quota.algorithm),
                       .ban = applied.rule->ban.has_value() ? &*applied.rule->ban : nullptr,
                       .sync = applied.rule->sync});
  }
  if (checks_.size() > store::kMaxChecksPerCall) {
    verdict.allowed = false;
    verdict.request_error =
        "more than " + std::to_string(store::kMaxChecksPerCall) +
        " rules apply to this request: give them a match, or let one rule replace "
        "others";
    return false;
  }
  answers_.resize(checks_.size());
  asked_.error = store::StoreError::kNone;
  asked_.deadline = deadline;
  asked_.checks = checks_;
  asked_.answers = answers_;
  asked_.peek = peek || refused;  // The refused charges nobody.
  return !checks_.empty();
}

void DecideCall::Finish() noexcept {
  if (verdict.request_error.empty()) {
    MakeVerdict();
  } else {
    metrics_->CountRequest(RequestResult::kError);
  }
  BatchTimer::Answered(*metrics_, batch_timer_, started_);
  ActiveRulesPin& pin = *pin_;
  OnVerdict();  // The call may be gone now; what its verdict pointed to must not be before.
  pin.Drop();
}

void DecideCall::MakeVerdict() {
  const ActiveRules& active = **pin_;
  if (active.rules == nullptr) {
    metrics_->CountRequest(RequestResult::kNoRule);
    return;
  }
  if (!checks_.empty() && asked_.error == store::StoreError::kNone) {
    verdict.now = asked_.now;
  }
  if (!IsAllAnswered()) [[unlikely]] {
    FallBack();
  }
  std::size_t next = 0;  // Of answers_, which leave out the rules without a key.
  for (const rules::AppliedRule& applied : matches_.applied()) {
    if (applied.key_missing) {
      RuleDecision made{.rule = applied.rule,
                        .quota = applied.quota,
                        .cost = applied.cost,
                        .parts = {},
                        .decision = WithoutKey(applied.rule->action, applied.quota)};
      made.decision.shadow = applied.shadow;
      CountOutcome(made, OutcomeOf(made.decision));
      verdict.decisions.push_back(made);
    } else {
      verdict.decisions.push_back(Answered(applied, next));
      ++next;
    }
  }
  verdict.allowed = EnforcedAllow(verdict.decisions);
  verdict.governing = Governing(verdict.decisions, verdict.allowed);
  verdict.wait = verdict.allowed ? LongestWait(verdict.decisions) : Duration{};

  if (peek) {
    metrics_->CountRequest(RequestResult::kPeeked);
    return;
  }
  for (const RuleDecision& made : verdict.decisions) {
    if (OutcomeOf(made.decision) != Outcome::kShadowDenied || made.decision.degraded) {
      continue;
    }
    metrics_->shadow_denials().Count(made.rule->id, made.parts, verdict.allowed);
    if (verdict.allowed) {
      active.counters[made.rule->number]->AddNewlyDenied();
    }
  }
  for (const rules::SkippedRule& skipped : matches_.skipped()) {
    active.counters[skipped.rule->number]->Add(Outcome::kSkipped);
    if (skipped.missing != rules::SkippedRule::kNone) {
      active.missing[skipped.missing]->Add();
    }
  }
  metrics_->CountRequest(!verdict.allowed            ? RequestResult::kDenied
                         : verdict.decisions.empty() ? RequestResult::kNoRule
                                                     : RequestResult::kAllowed);
}

RuleDecision DecideCall::Answered(const rules::AppliedRule& applied, std::size_t i) {
  const store::CheckAnswer& answer = answers_[i];
  RuleDecision made{.rule = applied.rule,
                    .quota = applied.quota,
                    .cost = applied.cost,
                    .parts = applied.parts,
                    .decision = answer.decision,
                    .charged = answer.charged,
                    .hold = answer.hold,
                    .receipt = answer.receipt};
  Outcome outcome = Outcome::kAllowed;
  if (IsAnswered(i)) {
    made.decision.shadow = applied.shadow;
    outcome = OutcomeOf(made.decision);
    if (fallback_ != nullptr && !made.decision.allowed) {
      fallback_->Remember(checks_[i], made.decision);
    }
  } else {
    const UnansweredCheck& unanswered =
        *std::ranges::find(room_.unanswered, &checks_[i], &UnansweredCheck::check);
    made.decision = unanswered.failed.decision;
    made.charged = unanswered.charged;
    made.hold = unanswered.hold;
    made.receipt = {.store_id = unanswered.store_id};
    outcome = unanswered.failed.outcome;
  }
  made.decision.shadow = applied.shadow;
  CountOutcome(made, outcome);
  return made;
}

void DecideCall::FallBack() {
  bool charge = !asked_.peek;
  std::size_t next = 0;
  for (const rules::AppliedRule& applied : matches_.applied()) {
    if (applied.key_missing) {
      continue;
    }
    if (!IsAnswered(next)) {
      room_.unanswered.push_back(
          {.check = &checks_[next],
           .policy = applied.rule->on_store_error,
           .failed = DecideWithoutStore(applied.rule->on_store_error, applied.quota)});
    } else {
      charge &= answers_[next].decision.allowed || applied.shadow;
    }
    ++next;
  }
  if (fallback_ != nullptr) {
    fallback_->Decide(room_, charge);
  }
  if (std::ranges::none_of(room_.unanswered, Denies)) {
    return;
  }
  for (std::size_t i = 0; i < checks_.size(); ++i) {
    if (IsAnswered(i) && answers_[i].charged) {
      TakeBack(*store_, (**pin_).rules, checks_[i], answers_[i]);
      store::Uncharge(checks_[i], answers_[i]);
    }
  }
}

void DecideCall::CountOutcome(const RuleDecision& decision, Outcome outcome) noexcept {
  if (!peek) {
    (**pin_).counters[decision.rule->number]->Add(outcome);
  }
}

}  // namespace sluice::service
