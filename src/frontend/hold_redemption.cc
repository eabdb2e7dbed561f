#include "frontend/hold_redemption.h"

#include <utility>

#include "frontend/key_token.h"
#include "service/operator_call.h"

namespace sluice::frontend {

class HoldRedemption::One final : public service::HolderCall {
 public:
  One(HoldRedemption& whole, HoldToken token)
      : whole_(whole), token_(std::move(token)), views_(token_.key.Views()) {
    rule = token_.rule;
    parts = views_;
    hold = token_.hold;
    store_id = token_.store_id;
  }

  void OnDone() noexcept override { whole_.CloseOne(error); }

 private:
  HoldRedemption& whole_;
  const HoldToken token_;
  const std::vector<core::KeyPart> views_;
};

HoldRedemption::HoldRedemption(service::LimiterService& service, const signing::Keyring* keys,
                               bool renew)
    : service_(service), keys_(keys), renew_(renew) {}
HoldRedemption::~HoldRedemption() = default;

bool HoldRedemption::Add(std::string_view name, std::string_view id) {
  HoldToken token;
  const signing::Opened opened = ReadHoldToken(keys_, id, token);
  if (name.empty() || opened == signing::Opened::kMalformed || opened == signing::Opened::kForged) {
    return false;
  }
  ++asked_;
  if (opened == signing::Opened::kNotYet) {
    failure_ = store::StoreError::kUnavailable;
  } else if (opened == signing::Opened::kGood && token.rule == name) {
    calls_.push_back(std::make_unique<One>(*this, std::move(token)));
  }  // Else nothing here could have granted it: as one that is gone.
  return true;
}

void HoldRedemption::Redeem(store::StoreCall::Deadline deadline) {
  open_ = calls_.size() + 1;
  for (const auto& call : calls_) {
    call->deadline = deadline;
    if (renew_) {
      service_.Renew(*call);
    } else {
      service_.Release(*call);
    }
  }
  CloseOne(store::StoreError::kNotFound);
}

void HoldRedemption::CloseOne(store::StoreError error) {
  done_ += error == store::StoreError::kNone ? 1 : 0;
  if (error != store::StoreError::kNone && error != store::StoreError::kNotFound) {
    failure_ = error;
  }
  if (--open_ == 0) {
    OnRedeemed();
  }
}

Redeemed HoldRedemption::outcome() const {
  switch (failure_) {
    case store::StoreError::kNone:
      return renew_ && done_ < asked_ ? Redeemed::kNotFound : Redeemed::kDone;
    case store::StoreError::kUnsupported:
      return Redeemed::kUnsupported;
    default:
      return Redeemed::kUnavailable;
  }
}

}  // namespace sluice::frontend
