#include "service/key_change.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "service/fallback.h"
#include "service/operation.h"

namespace sluice::service {

void KeyChange::Start(const OperationParts::Target& target) {
  touched = 0;
  error = store::StoreError::kNone;
  request_error.clear();
  parts_.Begin(target);
  FindRules(*target.active);
  if (request_error.empty()) {
    for (const rules::AppliedRule& applied : matches_.applied()) {
      if (!applied.key_missing) {
        Change(applied, target);
      }
    }
  }
  parts_.End();
}

void KeyChange::FindRules(const ActiveRules& active) {
  matches_ = rules::Matches();
  const rules::Rule* const only = only_rule.empty() ? nullptr : FindRule(active, only_rule);
  if (!only_rule.empty() && only == nullptr) {
    request_error = NoSuchRule(only_rule);
  } else if (active.rules != nullptr) {
    // Cost 0: no kind of change charges anything.
    if (Result<void> matched =
            active.rules->Match(attributes, Cost{.units = 0}, active.modes, matches_,
                                {.absent_cost = rules::AbsentCost::kIsTheCalls,
                                 .only = only,
                                 .secrets = rules::Secrets::kMayBeHashes,
                                 .by_key = true});
        !matched) {
      request_error = std::move(matched.error().message);
    }
  }
}

void KeyChange::Change(const rules::AppliedRule& applied, const OperationParts::Target& target) {
  const auto receive = [this](const store::StoreCall& call) {
    if (call.error == store::StoreError::kNone) {
      ++touched;
    } else {
      error = call.error;
    }
  };
  const RuleHistory& history = target.active->history;
  const core::KeyView key{.rule = applied.rule->id, .formerly = {}, .parts = applied.parts};
  // Also under the ids that the rule had in earlier sets: a receipt from that time is still valid,
  // and would restore the units under the former id.
  auto former_ids = history.FormerIds(*applied.rule);
  switch (kind) {
    case Kind::kRefund: {
      auto& refund = parts_.Add<store::RefundCall>(key, std::move(former_ids), receive);
      refund.quota = applied.quota;
      refund.units = units;
      refund.sync = applied.rule->sync;
      if (target.fallback != nullptr) {
        target.fallback->Forget(refund.key, refund.quota);
      }
      target.store.Refund(refund);
      break;
    }
    case Kind::kReset: {
      auto& reset = parts_.Add<store::ResetCall>(key, std::move(former_ids), receive);
      reset.quota = applied.quota;
      // A receipt in use may have the numbers of an earlier set of rules.
      reset.counts_for =
          std::max(applied.rule->longest_refill,
                   history.ChargesCountFor(*applied.rule, std::chrono::steady_clock::now()));
      reset.sync = applied.rule->sync;
      if (target.fallback != nullptr) {
        target.fallback->Reset(reset.key, reset.quota);
      }
      target.store.Reset(reset);
      break;
    }
    case Kind::kUnban: {
      auto& unban = parts_.Add<store::BanCall>(key, std::move(former_ids), receive);
      if (target.fallback != nullptr) {
        target.fallback->Unban(unban.key, applied.quota);
      }
      target.store.Unban(unban);
      break;
    }
  }
}

}  // namespace sluice::service
