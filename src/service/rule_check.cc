#include "service/rule_check.h"

#include <utility>

#include "service/operation.h"

namespace sluice::service {

namespace {

// The decision of a rule without a key: it allows or denies, or has on_missing: deny and a key
// attribute is absent. Waiting changes nothing.
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

class DecisionsOfRules final : public insight::DecisionList {
 public:
  explicit DecisionsOfRules(std::span<const RuleDecision> made) : made_(made) {}
  [[nodiscard]] std::size_t size() const override { return made_.size(); }
  [[nodiscard]] insight::DecisionRecord At(std::size_t i) const override {
    const RuleDecision& made = made_[i];
    return {.rule = made.rule->id,
            .number = made.rule->number,
            .parts = made.parts,
            .quota = &made.quota,
            .cost = made.cost,
            .decision = &made.decision,
            .outcome = made.outcome,
            .charged = made.charged,
            .lease = made.rule->sync == core::Sync::kLease};
  }

 private:
  const std::span<const RuleDecision> made_;
};

}  // namespace

void RuleCheck::Match(ActiveRulesPin& pin, ServiceMetrics& metrics, insight::Insight* insight) {
  pin_ = &pin;
  metrics_ = &metrics;
  insight_ = insight;
  verdict.allowed = true;
  verdict.governing = -1;
  verdict.kill_switch = false;
  verdict.wait = Duration{};
  verdict.now = WallInstant{};
  verdict.decisions.clear();
  verdict.request_error.clear();
  charge_.Clear();

  const ActiveRules& active = *pin;
  const rules::Rule* const only = only_rule.empty() ? nullptr : FindRule(active, only_rule);
  if (!only_rule.empty() && only == nullptr) {
    RefuseRequest(NoSuchRule(only_rule));
    return;
  }
  if (active.rules == nullptr) {
    return;
  }
  verdict.kill_switch = active.modes.all == rules::Mode::kOff;
  if (Result<void> matched =
          active.rules->Match(attributes, cost, active.modes, matches_,
                              {.absent_cost = absent_cost, .only = only, .secrets = secrets});
      !matched) {
    RefuseRequest(std::move(matched.error().message));
    return;
  }

  // Decided by a rule that denies, or that needs an absent attribute. Then nothing is charged.
  bool refused = false;
  for (const rules::AppliedRule& applied : matches_.applied()) {
    const rules::Rule& rule = *applied.rule;
    if (applied.key_missing) {
      refused |= !applied.shadow && rule.action != rules::Action::kAllow;
      continue;
    }
    charge_.Add({.key = {.rule = rule.id, .formerly = rule.formerly, .parts = applied.parts},
                 .quota = applied.quota,
                 .cost = applied.cost,
                 .shadow = applied.shadow,
                 .want_receipt = want_receipts && !core::HasHolds(applied.quota.algorithm),
                 .ban = rule.ban.has_value() ? &*rule.ban : nullptr,
                 .sync = rule.sync},
                rule.on_store_error);
  }
  if (charge_.size() > store::kMaxChecksPerCall) {
    charge_.Clear();
    RefuseRequest("more than " + std::to_string(store::kMaxChecksPerCall) +
                  " rules apply to this request: give them a match, or let one "
                  "rule replace "
                  "others");
    return;
  }
  charge_.peek = peek || refused;
}

void RuleCheck::RefuseRequest(std::string why) {
  verdict.allowed = false;
  verdict.request_error = std::move(why);
}

void RuleCheck::OnCharged() noexcept {
  if (verdict.request_error.empty()) {
    MakeVerdict();
  } else {
    metrics_->CountRequest(RequestResult::kError);
  }
  ActiveRulesPin& pin = *pin_;
  // The check may be gone now, but what its verdict points to must live until here.
  operation_.Complete();
  pin.Drop();
}

void RuleCheck::MakeVerdict() {
  const ActiveRules& active = **pin_;
  if (active.rules == nullptr) {
    metrics_->CountRequest(RequestResult::kNoRule);
    return;
  }
  verdict.now = charge_.now;
  std::size_t next = 0;
  for (const rules::AppliedRule& applied : matches_.applied()) {
    verdict.decisions.push_back(Answered(applied, next));
  }
  verdict.allowed = EnforcedAllow(verdict.decisions);
  verdict.governing = Governing(verdict.decisions, verdict.allowed);
  verdict.wait = verdict.allowed ? LongestWait(verdict.decisions) : Duration{};

  if (peek) {
    metrics_->CountRequest(RequestResult::kPeeked);
    return;
  }
  bool any_denied = false;
  for (const RuleDecision& made : verdict.decisions) {
    const Decision& decision = made.decision;
    any_denied |= !decision.allowed;
    if (verdict.allowed && decision.shadow && !decision.allowed && !decision.degraded) {
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
  if (insight_ != nullptr) {
    Record(any_denied);
  }
}

void RuleCheck::Record(bool any_denied) noexcept {
  const DecisionsOfRules decisions(verdict.decisions);
  insight_->Record({.now = verdict.now,
                    .request_id = &operation_.request_id,
                    .listener = operation_.listener,
                    .judged_by = insight::JudgedBy::kRules,
                    .allowed = verdict.allowed,
                    .any_denied = any_denied,
                    .cost = cost,
                    .attributes = attributes,
                    .rules = (**pin_).rules.get(),
                    .trace = operation_.trace.sampled() ? &operation_.trace : nullptr,
                    .governing = verdict.governing,
                    .asked = charge_.started(),
                    .decisions = decisions});
}

// `next`: which answer comes next; rules without a key have none.
RuleDecision RuleCheck::Answered(const rules::AppliedRule& applied, std::size_t& next) {
  RuleDecision made{
      .rule = applied.rule, .quota = applied.quota, .cost = applied.cost, .parts = applied.parts};
  if (applied.key_missing) {
    made.decision = WithoutKey(applied.rule->action, applied.quota);
    made.outcome = OutcomeOf(made.decision.allowed, applied.shadow);
  } else {
    const store::CheckAnswer& answer = charge_.answers[next];
    made.decision = answer.decision;
    made.charged = answer.charged;
    made.hold = answer.hold;
    made.receipt = answer.receipt;
    made.outcome = charge_.outcome(next++);
  }
  made.decision.shadow = applied.shadow;
  if (!peek) {
    (**pin_).counters[applied.rule->number]->Add(made.outcome);
  }
  return made;
}

}  // namespace sluice::service
