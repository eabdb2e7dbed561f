#include "frontend/charge_redemption.h"

#include <algorithm>

namespace sluice::frontend {

void ChargeRedemption::CostsOf(std::string_view attribute, std::string_view units) {
  const std::string& name = texts_.emplace_back(attribute);
  costs_.push_back({.name = name, .value = texts_.emplace_back(units)});
}

bool ChargeRedemption::Read(std::string_view token) {
  opened_ = ReadChargeToken(keys_, kind_, token, tokens_);
  return opened_ != signing::Opened::kMalformed;
}

void ChargeRedemption::Redeem() {
  if (opened_ != signing::Opened::kGood) {
    OnRedeemed();
    return;
  }
  views_.reserve(tokens_.size());
  for (const ChargeToken& token : tokens_) {
    views_.push_back(token.key.Views());
    charges_.push_back({.rule = token.rule,
                        .parts = views_.back(),
                        .receipt = token.receipt,
                        .units = token.units,
                        .limit = token.limit,
                        .rate = token.rate,
                        .shape = token.shape});
  }
  service::SettleCall::charges = charges_;
  costs = costs_;
  if (kind_ == ChargeKind::kReceipt) {
    service_.Refund(*this);
  } else {
    service_.Settle(*this);
  }
}

Redeemed ChargeRedemption::outcome() const {
  if (opened_ != signing::Opened::kGood) {
    return opened_ == signing::Opened::kNotYet ? Redeemed::kUnavailable : Redeemed::kNotFound;
  }
  const auto has = [this](auto matches) {
    return std::ranges::any_of(charges_, matches, &service::Charge::error);
  };
  if (has([](store::StoreError e) { return e == store::StoreError::kUnsupported; })) {
    return Redeemed::kUnsupported;
  }
  if (has([](store::StoreError e) {
        return e != store::StoreError::kNone && e != store::StoreError::kNotFound;
      })) {
    return Redeemed::kUnavailable;
  }
  return has([](store::StoreError e) { return e == store::StoreError::kNone; })
             ? Redeemed::kDone
             : Redeemed::kNotFound;
}

}  // namespace sluice::frontend
