#include "service/settlement.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "core/shape.h"
#include "service/fallback.h"
#include "service/operation.h"

namespace sluice::service {

void Settlement::Start(const OperationParts::Target& target) {
  parts_.Begin(target);
  for (Charge& charge : charges) {
    Settle(charge, target);
  }
  parts_.End();
}

void Settlement::Settle(Charge& charge, const OperationParts::Target& target) {
  const rules::Rule* const rule = FindRule(*target.active, charge.key.rule());
  charge.settled = charge.made.units;
  // A change of the shape starts all keys fresh, so earlier charges no longer exist.
  const bool known = rule != nullptr && core::ShapeDigest(rule->quota) == charge.made.shape;
  charge.error = known ? store::StoreError::kNone : store::StoreError::kNotFound;
  if (!known || (kind == Kind::kSettle && rule->has_own_cost)) {
    return;
  }
  const auto receive = [&charge, fallback = target.fallback](const store::SettleCall& call) {
    charge.error = call.error;
    charge.settled = call.settled;
    if (fallback != nullptr && call.error == store::StoreError::kNone &&
        call.settled < call.charged) {
      fallback->Forget(call.key, call.quota);  // A key that was denied may pass now.
    }
  };
  auto& call =
      parts_.Add<store::SettleCall>({.rule = rule->id, .formerly = {}, .parts = charge.key.parts()},
                                    target.active->history.FormerIds(*rule), receive);
  call.quota = rule->quota;
  call.quota.unlimited = false;
  call.quota.limit = charge.made.limit;
  call.quota.rate = charge.made.rate;
  call.receipt = charge.made.receipt;
  call.charged = charge.made.units;
  call.sync = rule->sync;
  if (kind == Kind::kSettle) {
    call.units = CostUnder(*rule);
    call.open_for = rule->reservation_ttl;
  }
  target.store.Settle(call);
}

Units Settlement::CostUnder(const rules::Rule& rule) const {
  const auto named = std::ranges::find(costs, rule.cost_attribute, &Attribute::name);
  if (rule.cost_attribute.empty() || named == costs.end()) {
    return cost;
  }
  Units units = 0;
  const char* const end = named->value.data() + named->value.size();
  const auto [stop, error] = std::from_chars(named->value.data(), end, units);
  const bool is_amount = error == std::errc() && stop == end && units >= 0 && units <= kMaxUnits;
  return is_amount ? units : cost;
}

}  // namespace sluice::service
