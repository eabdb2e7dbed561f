#include <algorithm>
#include <cstdint>
#include <list>
#include <optional>
#include <string>
#include <vector>

#include "sluice/reason.h"

#include "frontend/grpc/exchange.h"
#include "frontend/key_token.h"
#include "rules/rule.h"
#include "wire/native_redemption.h"
#include "wire/scalar_object.h"

namespace sluice::frontend::grpc {

using wire::GrpcCode;

namespace {

std::optional<std::int64_t> NumberOf(Units units) {
  return units == kUnlimited ? std::nullopt : std::optional<std::int64_t>(units);
}

wire::NativeDecision DecisionOf(const service::RuleDecision& of) {
  const Decision& decision = of.decision;
  wire::NativeDecision said;
  said.rule = of.rule->id;
  said.allowed = decision.allowed;
  said.reason = RowOf(decision.reason).name;
  said.shadow = decision.shadow;
  said.degraded = decision.degraded;
  said.limit = NumberOf(decision.limit);
  said.remaining = NumberOf(decision.remaining);
  if (decision.retry_after < Decision::kUnknown) {
    said.retry_after_ns = decision.retry_after.count();
  }
  said.reset_after_ns = decision.reset_after.count();
  return said;
}

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

Status NativeExchange::Begin(Connection& connection, const signing::Keyring* keys, Method method,
                             std::string_view bytes) {
  Start(connection);
  keys_ = keys;
  denied_ = false;
  operation.Clear();
  const std::string_view kept = operation.arena.Keep(bytes);
  switch (method) {
    case Method::kRelease:
    case Method::kRenew:
      redemption_.BeginHolds(method == Method::kRenew ? service::HoldChange::Kind::kRenew
                                                      : service::HoldChange::Kind::kRelease,
                             keys);
      return ReadHolds(kept);
    case Method::kSettle:
      redemption_.BeginCharges(ChargeKind::kReservation, keys);
      return ReadSettlement(kept);
    case Method::kRefund:
      redemption_.BeginCharges(ChargeKind::kReceipt, keys);
      return ReadRefund(kept);
    default:
      return ReadCheck(kept);
  }
}

Status NativeExchange::ReadCheck(std::string_view bytes) {
  auto& check = operation.Ask<service::RuleCheck>();
  if (!check_.Read(bytes)) {
    return {GrpcCode::kInternal, "the message is not a CheckRequest"};
  }
  const std::int64_t units = check_.cost.value_or(1);
  if (!IsUnits(units)) {
    return kCostOutOfRange;
  }
  constexpr wire::ScalarObjectLimits kLimits{};
  if (check_.attributes.size() > kLimits.members) {
    return {GrpcCode::kInvalidArgument, "a request may have at most 64 attributes"};
  }
  std::vector<Attribute>& attributes = operation.attributes;
  for (const auto& [name, value] : check_.attributes) {
    if (name.size() > kLimits.name_bytes || value.size() > kLimits.value_bytes) {
      return {GrpcCode::kInvalidArgument,
              "an attribute's name may have at most 256 bytes and its value 1024"};
    }
    // A map has each key once; a message with a repeated key is invalid.
    if (std::ranges::any_of(attributes, [&](const Attribute& a) { return a.name == name; })) {
      return {GrpcCode::kInvalidArgument, "an attribute is given twice"};
    }
    attributes.push_back({name, value});
  }
  check.attributes = attributes;
  check.cost = Cost{units};
  check.only_rule = check_.rule;
  check.peek = check_.peek;
  check.want_receipts = check_.receipt || check_.reserve;
  return {};
}

Status NativeExchange::ReadHolds(std::string_view bytes) {
  wire::NativeHoldsRequest request;
  if (!request.Read(bytes)) {
    return {GrpcCode::kInternal, "the message is not a HoldsRequest"};
  }
  if (request.holds.empty() || request.holds.size() > store::kMaxChecksPerCall) {
    return {GrpcCode::kInvalidArgument, "name 1 to 64 holds"};
  }
  for (const wire::NativeHold& hold : request.holds) {
    if (!redemption_.AddHold(hold.rule, hold.id)) {
      return {GrpcCode::kInvalidArgument, "rule and id must come from the response to a check"};
    }
  }
  return {};
}

Status NativeExchange::ReadSettlement(std::string_view bytes) {
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
  redemption_.CostsInAll(request.cost.value_or(0));
  for (const auto& [attribute, units] : request.costs) {
    if (!IsUnits(units)) {
      return kCostOutOfRange;
    }
    redemption_.CostsOf(attribute, std::to_string(units));
  }
  if (!redemption_.ReadCharges(request.reservation)) {
    return {GrpcCode::kInvalidArgument, "reservation must come from the response to a check"};
  }
  return {};
}

Status NativeExchange::ReadRefund(std::string_view bytes) {
  wire::NativeRefundRequest request;
  if (!request.Read(bytes)) {
    return {GrpcCode::kInternal, "the message is not a RefundRequest"};
  }
  if (!redemption_.ReadCharges(request.receipt)) {
    return {GrpcCode::kInvalidArgument, "receipt must come from the response to a check"};
  }
  return {};
}

void NativeExchange::OnCompleted(service::Operation& /*operation*/) noexcept {
  if (operation.verb() == service::Operation::Verb::kRuleCheck && !abandoned()) {
    const service::Verdict& verdict = operation.Get<service::RuleCheck>().verdict;
    denied_ = !verdict.allowed;
    verdict_.clear();
    AppendVerdict(verdict, verdict_);
  }
  BecomeReady();
}

void NativeExchange::AppendVerdict(const service::Verdict& verdict, std::string& message) const {
  wire::NativeCheckResponse response;
  response.allowed = verdict.allowed;
  response.wait_ns = verdict.wait.count();
  response.governing = verdict.governing;
  response.kill_switch = verdict.kill_switch;
  for (const service::RuleDecision& decision : verdict.decisions) {
    response.decisions.push_back(DecisionOf(decision));
  }
  std::list<std::string> ids;  // The strings that `response` views. Most calls have none.
  std::string receipt;
  std::string reservation;
  if (keys_ != nullptr) {
    for (const service::RuleDecision& decision : verdict.decisions) {
      if (decision.hold != 0) {
        AppendHoldToken(*keys_, decision, ids.emplace_back());
        response.holds.push_back({.rule = decision.rule->id, .id = ids.back()});
      }
    }
    if (check_.receipt) {
      (void)AppendChargeToken(*keys_, ChargeKind::kReceipt, verdict, receipt);
    }
    if (check_.reserve) {
      (void)AppendChargeToken(*keys_, ChargeKind::kReservation, verdict, reservation);
    }
  }
  response.receipt = receipt;
  response.reservation = reservation;
  response.AppendMessage(message);
}

Status NativeExchange::Render(std::string& message) {
  switch (operation.verb()) {
    case service::Operation::Verb::kHoldChange:
      return RenderHolds(message);
    case service::Operation::Verb::kSettlement:
      return RenderCharges(message);
    default:
      break;
  }
  const std::string& wrong = operation.Get<service::RuleCheck>().verdict.request_error;
  if (!wrong.empty()) {
    return {GrpcCode::kInvalidArgument, wrong};
  }
  message += verdict_;
  return {};
}

Status NativeExchange::RenderHolds(std::string& message) {
  const Status status =
      StatusOf(redemption_.outcome(), "a hold was released or has expired: check again");
  if (status.code == GrpcCode::kOk) {
    wire::AppendHoldsResponse(message, static_cast<std::int32_t>(redemption_.done()));
  }
  return status;
}

Status NativeExchange::RenderCharges(std::string& message) {
  const Status status = StatusOf(
      redemption_.outcome(), "unknown charge: the token was altered, or its rules no longer exist");
  if (status.code != GrpcCode::kOk) {
    return status;
  }
  const bool refund =
      operation.Get<service::Settlement>().kind == service::Settlement::Kind::kRefund;
  for (const service::Charge& charge : redemption_.charges()) {
    if (charge.error != store::StoreError::kNone) {
      continue;
    }
    if (refund) {
      wire::AppendRefunded(message, charge.key.rule(), charge.made.units - charge.settled);
    } else {
      wire::AppendSettled(message, charge.key.rule(), charge.made.units, charge.settled);
    }
  }
  return {};
}

}  // namespace sluice::frontend::grpc
