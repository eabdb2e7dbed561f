#include "service/hold_change.h"

#include <chrono>
#include <string>
#include <utility>

#include "service/fallback.h"
#include "service/operation.h"

namespace sluice::service {

void HoldChange::Start(const OperationParts::Target& target) {
  done = 0;
  failure = store::StoreError::kNone;
  parts_.Begin(target);
  for (const NamedHold& named : holds) {
    Change(named, target);
  }
  parts_.End();
}

void HoldChange::Change(const NamedHold& named, const OperationParts::Target& target) {
  const auto receive = [this](const store::HoldCall& call) {
    if (call.error == store::StoreError::kNone) {
      ++done;
    } else if (call.error != store::StoreError::kNotFound) {
      failure = call.error;
    }
  };
  const rules::Rule* const rule = FindRule(*target.active, named.key.rule());
  const bool known = rule != nullptr && core::HasHolds(rule->quota.algorithm);
  if (!known && kind == Kind::kRenew) {
    return;  // No active rule could have granted it, so it is treated as one that is gone.
  }
  // The hold is in the store under the old id until the key is touched under the new one. If the
  // rule is gone, or has another kind now, its holds last until they expire, and they can still be
  // released: their key depends on no number.
  auto& call = parts_.Add<store::HoldCall>(
      {.rule = known ? rule->id : named.key.rule(), .formerly = {}, .parts = named.key.parts()},
      known ? target.active->history.FormerIds(*rule) : std::vector<std::string>(), receive);
  call.hold = named.hold.id;
  call.store_id = named.hold.store_id;
  call.quota = known ? rule->quota
                     : core::Quota{.algorithm = core::kHoldingAlgorithm,
                                   .limit = kMaxUnits,
                                   .window = std::chrono::milliseconds(1)};
  Fallback* const fallback = target.fallback;
  const bool renew = kind == Kind::kRenew;
  if (fallback != nullptr && (renew ? fallback->Renew(call) : fallback->Release(call))) {
    call.error = store::StoreError::kNone;
    call.OnAnswered();
  } else if (renew) {
    target.store.Renew(call);
  } else {
    target.store.Release(call);
  }
}

}  // namespace sluice::service
