#include "service/settle_call.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/shape.h"
#include "service/limiter_service.h"

namespace sluice::service {

// One charge on its way to the store.
class SettleCall::Part final : public store::SettleCall {
 public:
  Part(service::SettleCall& whole, Charge& charge, Fallback* fallback)
      : whole_(&whole), charge_(&charge), fallback_(fallback) {}

  void OnAnswered() noexcept override {
    charge_->error = error;
    charge_->settled = settled;
    if (fallback_ != nullptr && error == store::StoreError::kNone && settled < charged) {
      fallback_->Forget(key, quota);  // Whoever was denied may pass now.
    }
    CloseOne(*whole_);
  }

  std::vector<std::string> former_ids;  // What the key's point into.

  static void CloseOne(service::SettleCall& whole) {
    if (--whole.open_ == 0) {
      whole.OnDone();  // The call may be gone now.
    }
  }

 private:
  service::SettleCall* whole_;
  Charge* charge_;
  Fallback* fallback_;
};

namespace {

// What `attribute` says it was; nullopt if it says nothing that is an amount.
std::optional<Units> CostNamed(Attributes costs, std::string_view attribute) {
  for (const Attribute& given : costs) {
    Units units = 0;
    const char* const end = given.value.data() + given.value.size();
    if (given.name == attribute) {
      const auto [stop, error] = std::from_chars(given.value.data(), end, units);
      return error == std::errc() && stop == end && units >= 0 && units <= kMaxUnits
                 ? std::optional(units)
                 : std::nullopt;
    }
  }
  return std::nullopt;
}

}  // namespace

SettleCall::SettleCall() = default;
SettleCall::~SettleCall() = default;

void LimiterService::SettleAll(SettleCall& call, bool refund) {
  const auto active = published_.Get();
  call.kept_ = active;
  call.parts_.clear();
  call.open_ = 1;
  for (Charge& charge : call.charges) {
    const rules::Rule* const rule = FindRule(*active, charge.rule);
    charge.settled = charge.units;
    // A change of the shape starts all keys fresh: what was charged before is nowhere any more.
    const bool known = rule != nullptr && core::ShapeDigest(rule->quota) == charge.shape;
    charge.error = known ? store::StoreError::kNone : store::StoreError::kNotFound;
    if (!known || (!refund && rule->has_own_cost)) {
      continue;
    }
    auto part = std::make_unique<SettleCall::Part>(call, charge, fallback_);
    store::SettleCall& asked = *part;
    part->former_ids = active->history.FormerIds(*rule);
    asked.key = {.rule = rule->id, .formerly = part->former_ids, .parts = charge.parts};
    call.parts_.push_back(std::move(part));
    asked.quota = rule->quota;
    asked.quota.unlimited = false;
    asked.quota.limit = charge.limit;
    asked.quota.rate = charge.rate;
    asked.receipt = charge.receipt;
    asked.charged = charge.units;
    asked.sync = rule->sync;
    if (!refund) {
      asked.units = rule->cost_attribute.empty()
                        ? call.cost
                        : CostNamed(call.costs, rule->cost_attribute).value_or(call.cost);
      asked.open_for = rule->reservation_ttl;
    }
    ++call.open_;
    store_.Settle(asked);
  }
  SettleCall::Part::CloseOne(call);
}

}  // namespace sluice::service
