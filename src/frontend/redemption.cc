#include "frontend/redemption.h"

#include <algorithm>
#include <utility>

namespace sluice::frontend {

void Redemption::Clear(const signing::Keyring* keys) {
  keys_ = keys;
  asked_ = 0;
  keys_are_late_ = false;
}

void Redemption::BeginHolds(service::HoldChange::Kind kind, const signing::Keyring* keys) {
  Clear(keys);
  operation_.Ask<service::HoldChange>().kind = kind;
}

bool Redemption::AddHold(std::string_view name, std::string_view id) {
  service::HoldChange::NamedHold hold;
  const signing::Opened opened = ReadHoldToken(keys_, id, hold);
  if (name.empty() || opened == signing::Opened::kMalformed || opened == signing::Opened::kForged) {
    return false;
  }
  ++asked_;
  if (opened == signing::Opened::kNotYet) {
    keys_are_late_ = true;
  } else if (opened == signing::Opened::kGood && hold.key.rule() == name) {
    operation_.Get<service::HoldChange>().holds.push_back(std::move(hold));
  }  // Otherwise no rule here could have granted it, so it is treated as one that is gone.
  return true;
}

void Redemption::BeginCharges(ChargeKind kind, const signing::Keyring* keys) {
  Clear(keys);
  kind_ = kind;
  operation_.Ask<service::Settlement>().kind = kind == ChargeKind::kReceipt
                                                   ? service::Settlement::Kind::kRefund
                                                   : service::Settlement::Kind::kSettle;
}

void Redemption::CostsInAll(Units units) {
  operation_.Get<service::Settlement>().cost = units;
}

void Redemption::CostsOf(std::string_view attribute, std::string_view units) {
  operation_.Get<service::Settlement>().costs.push_back(
      {.name = operation_.arena.Keep(attribute), .value = operation_.arena.Keep(units)});
}

bool Redemption::ReadCharges(std::string_view token) {
  auto& charges = operation_.Get<service::Settlement>().charges;
  const signing::Opened opened = ReadChargeToken(keys_, kind_, token, charges);
  keys_are_late_ = opened == signing::Opened::kNotYet;
  if (opened != signing::Opened::kGood) {
    charges.clear();
  }
  return opened != signing::Opened::kMalformed;
}

Redeemed Redemption::outcome() const {
  return operation_.verb() == service::Operation::Verb::kHoldChange ? OutcomeOfHolds()
                                                                    : OutcomeOfCharges();
}

Redeemed Redemption::OutcomeOfHolds() const {
  const auto& change = operation_.Get<service::HoldChange>();
  if (change.failure == store::StoreError::kUnsupported) {
    return Redeemed::kUnsupported;
  }
  if (change.failure != store::StoreError::kNone || keys_are_late_) {
    return Redeemed::kUnavailable;
  }
  const bool renew = change.kind == service::HoldChange::Kind::kRenew;
  return renew && change.done < asked_ ? Redeemed::kNotFound : Redeemed::kDone;
}

Redeemed Redemption::OutcomeOfCharges() const {
  using store::StoreError;
  const auto has = [this](auto matches) {
    return std::ranges::any_of(charges(), matches, &service::Charge::error);
  };
  if (has([](StoreError e) { return e == StoreError::kUnsupported; })) {
    return Redeemed::kUnsupported;
  }
  if (keys_are_late_ ||
      has([](StoreError e) { return e != StoreError::kNone && e != StoreError::kNotFound; })) {
    return Redeemed::kUnavailable;
  }
  return has([](StoreError e) { return e == StoreError::kNone; }) ? Redeemed::kDone
                                                                  : Redeemed::kNotFound;
}

}  // namespace sluice::frontend
