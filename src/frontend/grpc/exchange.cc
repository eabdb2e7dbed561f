#include "frontend/grpc/exchange.h"

#include <algorithm>
#include <list>
#include <optional>

#include "sluice/reason.h"

#include "frontend/grpc/connection.h"
#include "frontend/key_token.h"
#include "wire/scalar_object.h"

namespace sluice::frontend::grpc {

namespace {

using wire::GrpcCode;

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

}  // namespace

void Exchange::BecomeReady() noexcept {
  ready_ = true;
  if (connection_ == nullptr) {
    Return();
  } else {
    connection_->OnExchangeReady(*this);
  }
}

bool RateLimitExchange::Begin(Connection& connection, std::string_view bytes, bool compatible) {
  compatible_ = compatible;
  request = &request_;
  return request_.Read(Keep(connection, bytes));
}

Status RateLimitExchange::Render(std::string& message) {
  switch (failure) {
    case Failure::kNone:
      response.AppendMessage(message);
      return {};
    case Failure::kTooMany:
      return {GrpcCode::kResourceExhausted, failure_text};
    case Failure::kBadRequest:
      return {compatible_ ? GrpcCode::kUnknown : GrpcCode::kInvalidArgument, failure_text};
    case Failure::kNoConfiguration:
    case Failure::kStore:
      break;
  }
  return {compatible_ ? GrpcCode::kUnknown : GrpcCode::kUnavailable, failure_text};
}

Status CheckExchange::Begin(Connection& connection, const signing::Keyring* keys,
                            std::string_view bytes) {
  keys_ = keys;
  if (!request_.Read(Keep(connection, bytes))) {
    return {GrpcCode::kInternal, "the message is not a CheckRequest"};
  }
  const std::int64_t units = request_.cost.value_or(1);
  if (units < 0 || units > kMaxUnits) {
    return {GrpcCode::kInvalidArgument, "cost must be 0 to 999999999999999"};
  }
  constexpr wire::ScalarObjectLimits kLimits{};
  if (request_.attributes.size() > kLimits.members) {
    return {GrpcCode::kInvalidArgument, "a request may have at most 64 attributes"};
  }
  attributes_.clear();
  for (const auto& [name, value] : request_.attributes) {
    if (name.size() > kLimits.name_bytes || value.size() > kLimits.value_bytes) {
      return {GrpcCode::kInvalidArgument,
              "an attribute's name may have at most 256 bytes and its value 1024"};
    }
    // A map has each key once, and what writes one twice is no client of ours.
    if (std::ranges::any_of(attributes_, [&](const Attribute& a) { return a.name == name; })) {
      return {GrpcCode::kInvalidArgument, "an attribute is given twice"};
    }
    attributes_.push_back({name, value});
  }
  attributes = attributes_;
  cost = Cost{units};
  only_rule = request_.rule;
  peek = request_.peek;
  want_receipts = request_.receipt || request_.reserve;
  response_.clear();
  error_.clear();
  return {};
}

void CheckExchange::OnVerdict() noexcept {
  error_ = verdict.request_error;
  if (error_.empty()) {
    wire::NativeCheckResponse response;
    response.allowed = verdict.allowed;
    response.wait_ns = verdict.wait.count();
    response.governing = verdict.governing;
    response.kill_switch = verdict.kill_switch;
    for (const service::RuleDecision& decision : verdict.decisions) {
      response.decisions.push_back(DecisionOf(decision));
    }
    std::list<std::string> ids;  // That `response` views. Most calls have none.
    std::string receipt;
    std::string reservation;
    if (keys_ != nullptr) {
      for (const service::RuleDecision& decision : verdict.decisions) {
        if (decision.hold != 0) {
          AppendHoldToken(*keys_, decision, ids.emplace_back());
          response.holds.push_back({.rule = decision.rule->id, .id = ids.back()});
        }
      }
      if (request_.receipt) {
        (void)AppendChargeToken(*keys_, ChargeKind::kReceipt, verdict, receipt);
      }
      if (request_.reserve) {
        (void)AppendChargeToken(*keys_, ChargeKind::kReservation, verdict, reservation);
      }
    }
    response.receipt = receipt;
    response.reservation = reservation;
    response.AppendMessage(response_);
  }
  BecomeReady();
}

Status CheckExchange::Render(std::string& message) {
  if (!error_.empty()) {
    return {GrpcCode::kInvalidArgument, error_};
  }
  message += response_;
  return {};
}

}  // namespace sluice::frontend::grpc
