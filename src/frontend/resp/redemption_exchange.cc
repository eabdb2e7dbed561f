#include "frontend/resp/redemption_exchange.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "frontend/resp/front_end.h"

namespace sluice::frontend::resp {

namespace {

void AppendFailure(Redeemed outcome, wire::RespWriter& writer) {
  if (outcome == Redeemed::kNotFound) {
    writer.Error("NOTFOUND", "unknown charge: the token was altered, or its rules no longer exist");
  } else if (outcome == Redeemed::kUnsupported) {
    writer.Error("ERR", "the store in use does not support this");
  } else {
    writer.Error("SHED", "the store did not answer: try again");
  }
}

void AppendCharges(const ChargeRedemption& charges, wire::RespWriter& writer) {
  const auto counts = [](const service::Charge& charge) {
    return charge.error == store::StoreError::kNone;
  };
  const bool refund = charges.kind() == ChargeKind::kReceipt;
  writer.Array(static_cast<std::size_t>(std::ranges::count_if(charges.results(), counts)));
  for (const service::Charge& charge : charges.results()) {
    if (!counts(charge)) {
      continue;
    }
    writer.Map(refund ? 2 : 3);
    writer.Bulk("name");
    writer.Bulk(charge.rule);
    if (refund) {
      writer.Bulk("units");
      writer.Integer(charge.units - charge.settled);
    } else {
      writer.Bulk("charged");
      writer.Integer(charge.units);
      writer.Bulk("cost");
      writer.Integer(charge.settled);
    }
  }
}

}  // namespace

class RedemptionExchange::Holds final : public HoldRedemption {
 public:
  Holds(RedemptionExchange& exchange, const FrontEnd& front_end, bool renew)
      : HoldRedemption(front_end.service(), front_end.settings().keys, renew),
        exchange_(exchange) {}

  void OnRedeemed() noexcept override {
    wire::RespWriter writer(exchange_.answer_, exchange_.version_);
    if (outcome() == Redeemed::kUnsupported || outcome() == Redeemed::kUnavailable) {
      AppendFailure(outcome(), writer);
    } else {
      writer.Integer(static_cast<std::int64_t>(done()));  // Those that are gone are no error.
    }
    exchange_.BecomeReady();
  }

 private:
  RedemptionExchange& exchange_;
};

class RedemptionExchange::Charges final : public ChargeRedemption {
 public:
  Charges(RedemptionExchange& exchange, const FrontEnd& front_end, ChargeKind kind)
      : ChargeRedemption(front_end.service(), front_end.settings().keys, kind),
        exchange_(exchange) {}

  void OnRedeemed() noexcept override {
    wire::RespWriter writer(exchange_.answer_, exchange_.version_);
    if (outcome() == Redeemed::kDone) {
      AppendCharges(*this, writer);
    } else {
      AppendFailure(outcome(), writer);
    }
    exchange_.BecomeReady();
  }

 private:
  RedemptionExchange& exchange_;
};

RedemptionExchange::RedemptionExchange(Pool<RedemptionExchange>& pool) : pool_(pool) {}
RedemptionExchange::~RedemptionExchange() = default;

HoldRedemption& RedemptionExchange::StartHolds(const FrontEnd& front_end, bool renew) {
  charges_.reset();
  holds_ = std::make_unique<Holds>(*this, front_end, renew);
  return *holds_;
}

ChargeRedemption& RedemptionExchange::StartCharges(const FrontEnd& front_end, ChargeKind kind) {
  holds_.reset();
  charges_ = std::make_unique<Charges>(*this, front_end, kind);
  return *charges_;
}

void RedemptionExchange::Redeem() {
  if (holds_ != nullptr) {
    holds_->Redeem();
  } else {
    charges_->Redeem();
  }
}

void RedemptionExchange::Return() noexcept {
  pool_.Return(*this);
}

}  // namespace sluice::frontend::resp
