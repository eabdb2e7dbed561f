#include "frontend/grpc/exchange.h"

#include "frontend/grpc/connection.h"

namespace sluice::frontend::grpc {

using wire::GrpcCode;

void Exchange::BecomeReady() noexcept {
  ready_ = true;
  if (connection_ == nullptr) {
    Return();
  } else {
    connection_->OnExchangeReady(*this);
  }
}

bool RateLimitExchange::Begin(Connection& connection, std::string_view bytes, bool compatible) {
  Start(connection);
  compatible_ = compatible;
  bytes_.assign(bytes);
  call_.request = &request_;
  call_.request_id.Clear();
  call_.trace.Clear();
  return request_.Read(bytes_);
}

Status RateLimitExchange::Render(std::string& message) {
  using Failure = envoy::RateLimitCall::Failure;
  switch (call_.failure) {
    case Failure::kNone:
      call_.response.AppendMessage(message);
      return {};
    case Failure::kTooMany:
      return {GrpcCode::kResourceExhausted, call_.failure_text};
    case Failure::kBadRequest:
      return {compatible_ ? GrpcCode::kUnknown : GrpcCode::kInvalidArgument, call_.failure_text};
    case Failure::kNoConfiguration:
    case Failure::kStore:
      break;
  }
  return {compatible_ ? GrpcCode::kUnknown : GrpcCode::kUnavailable, call_.failure_text};
}

}  // namespace sluice::frontend::grpc
