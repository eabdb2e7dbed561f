#include "frontend/redemption.h"

#include <algorithm>

namespace sluice::frontend {

void Redemption::Clear(const signing::Keyring* keys) {
  keys_ = keys;
  parts_.clear();
  asked_ = 0;
  keys_are_late_ = false;
}

std::span<const core::KeyPart> Redemption::Keep(const core::Key& key) {
  std::vector<core::KeyPart>& parts = parts_.emplace_back(key.parts().begin(), key.parts().end());
  for (core::KeyPart& part : parts) {
    part.attribute = operation_.arena.Keep(part.attribute);
    part.value = operation_.arena.Keep(part.value);
  }
  return parts;
}

void Redemption::BeginHolds(service::HoldChange::Kind kind, const signing::Keyring* keys) {
  Clear(keys);
  operation_.Ask<service::HoldChange>().kind = kind;
}

bool Redemption::AddHold(std::string_view name, std::string_view id) {
  HoldToken token;
  const signing::Opened opened = ReadHoldToken(keys_, id, token);
  if (name.empty() || opened == signing::Opened::kMalformed || opened == signing::Opened::kForged) {
    return false;
  }
  ++asked_;
  if (opened == signing::Opened::kNotYet) {
    keys_are_late_ = true;
  } else if (opened == signing::Opened::kGood && token.key.rule() == name) {
    operation_.Get<service::HoldChange>().holds.push_back(
        {.rule = operation_.arena.Keep(token.key.rule()),
         .parts = Keep(token.key),
         .hold = token.hold.id,
         .store_id = token.hold.store_id});
  }  // Else nothing here could have granted it: as one that is gone.
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
  std::vector<ChargeToken> read;
  const signing::Opened opened = ReadChargeToken(keys_, kind_, token, read);
  keys_are_late_ = opened == signing::Opened::kNotYet;
  if (opened == signing::Opened::kGood) {
    for (const auto& [key, charge] : read) {
      operation_.Get<service::Settlement>().charges.push_back(
          {.rule = operation_.arena.Keep(key.rule()),
           .parts = Keep(key),
           .receipt = charge.receipt,
           .units = charge.units,
           .limit = charge.limit,
           .rate = charge.rate,
           .shape = charge.shape});
    }
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
