#include "frontend/grpc/redemption_exchange.h"

#include <cstdint>

#include "wire/native_redemption.h"

namespace sluice::frontend::grpc {

namespace {

using wire::GrpcCode;

constexpr Status kCostOutOfRange{GrpcCode::kInvalidArgument, "cost must be 0 to 999999999999999"};

bool IsUnits(std::int64_t units) {
  return units >= 0 && units <= kMaxUnits;
}

Status StatusOf(Redeemed outcome, std::string_view not_found) {
  switch (outcome) {
    case Redeemed::kDone:
      break;
    case Redeemed::kNotFound:
      return {GrpcCode::kNotFound, not_found};
    case Redeemed::kUnsupported:
      return {GrpcCode::kUnimplemented, "the store in use does not support this"};
    case Redeemed::kUnavailable:
      return {GrpcCode::kUnavailable, "the store did not answer: try again"};
  }
  return {};
}

}  // namespace

class RedemptionExchange::Holds final : public HoldRedemption {
 public:
  Holds(RedemptionExchange& exchange, service::LimiterService& service,
        const signing::Keyring* keys, bool renew)
      : HoldRedemption(service, keys, renew), exchange_(exchange) {}
  void OnRedeemed() noexcept override { exchange_.BecomeReady(); }

 private:
  RedemptionExchange& exchange_;
};

class RedemptionExchange::Charges final : public ChargeRedemption {
 public:
  Charges(RedemptionExchange& exchange, service::LimiterService& service,
          const signing::Keyring* keys, ChargeKind kind)
      : ChargeRedemption(service, keys, kind), exchange_(exchange) {}
  void OnRedeemed() noexcept override { exchange_.BecomeReady(); }

 private:
  RedemptionExchange& exchange_;
};

RedemptionExchange::RedemptionExchange(Pool<RedemptionExchange>& pool) : pool_(pool) {}
RedemptionExchange::~RedemptionExchange() = default;

Status RedemptionExchange::Begin(Connection& connection, service::LimiterService& service,
                                 const signing::Keyring* keys, Method method,
                                 std::string_view bytes) {
  const std::string_view kept = Keep(connection, bytes);
  holds_.reset();
  charges_.reset();
  if (method == Method::kRelease || method == Method::kRenew) {
    holds_ = std::make_unique<Holds>(*this, service, keys, method == Method::kRenew);
    return ReadHolds(kept);
  }
  const bool refund = method == Method::kRefund;
  charges_ = std::make_unique<Charges>(*this, service, keys,
                                       refund ? ChargeKind::kReceipt : ChargeKind::kReservation);
  return refund ? ReadRefund(kept) : ReadSettlement(kept);
}

Status RedemptionExchange::ReadHolds(std::string_view bytes) {
  wire::NativeHoldsRequest request;
  if (!request.Read(bytes)) {
    return {GrpcCode::kInternal, "the message is not a HoldsRequest"};
  }
  if (request.holds.empty() || request.holds.size() > store::kMaxChecksPerCall) {
    return {GrpcCode::kInvalidArgument, "name 1 to 64 holds"};
  }
  for (const wire::NativeHold& hold : request.holds) {
    if (!holds_->Add(hold.rule, hold.id)) {
      return {GrpcCode::kInvalidArgument, "rule and id must come from the response to a check"};
    }
  }
  return {};
}

Status RedemptionExchange::ReadSettlement(std::string_view bytes) {
  wire::NativeSettleRequest request;
  if (!request.Read(bytes)) {
    return {GrpcCode::kInternal, "the message is not a SettleRequest"};
  }
  if (!request.cost && request.costs.empty()) {
    return {GrpcCode::kInvalidArgument, "cost is missing: the actual cost of the request"};
  }
  if (!IsUnits(request.cost.value_or(0))) {
    return kCostOutOfRange;
  }
  charges_->CostsInAll(request.cost.value_or(0));
  for (const auto& [attribute, units] : request.costs) {
    if (!IsUnits(units)) {
      return kCostOutOfRange;
    }
    charges_->CostsOf(attribute, std::to_string(units));
  }
  if (!charges_->Read(request.reservation)) {
    return {GrpcCode::kInvalidArgument, "reservation must come from the response to a check"};
  }
  return {};
}

Status RedemptionExchange::ReadRefund(std::string_view bytes) {
  wire::NativeRefundRequest request;
  if (!request.Read(bytes)) {
    return {GrpcCode::kInternal, "the message is not a RefundRequest"};
  }
  if (!charges_->Read(request.receipt)) {
    return {GrpcCode::kInvalidArgument, "receipt must come from the response to a check"};
  }
  return {};
}

void RedemptionExchange::Redeem() {
  if (holds_ != nullptr) {
    holds_->Redeem(deadline);
  } else {
    charges_->Redeem();
  }
}

Status RedemptionExchange::Render(std::string& message) {
  if (holds_ != nullptr) {
    const Status status =
        StatusOf(holds_->outcome(), "a hold was released or has expired: check again");
    if (status.code == GrpcCode::kOk) {
      wire::AppendHoldsResponse(message, static_cast<std::int32_t>(holds_->done()));
    }
    return status;
  }
  const Status status = StatusOf(
      charges_->outcome(), "unknown charge: the token was altered, or its rules no longer exist");
  if (status.code != GrpcCode::kOk) {
    return status;
  }
  for (const service::Charge& charge : charges_->results()) {
    if (charge.error != store::StoreError::kNone) {
      continue;
    }
    if (charges_->kind() == ChargeKind::kReceipt) {
      wire::AppendRefunded(message, charge.rule, charge.units - charge.settled);
    } else {
      wire::AppendSettled(message, charge.rule, charge.units, charge.settled);
    }
  }
  return {};
}

void RedemptionExchange::Return() noexcept {
  pool_.Return(*this);
}

}  // namespace sluice::frontend::grpc
