#include <algorithm>
#include <utility>

#include "frontend/grpc/connection.h"
#include "frontend/grpc/front_end.h"
#include "wire/grpc_message.h"

// A call from its stream's header to its trailers; when calls are asked and ended is in
// connection.cc.
namespace sluice::frontend::grpc {

namespace {

using wire::GrpcCode;

struct Row {
  std::string_view path;
  Method method;
};

constexpr std::array<Row, 8> kRows{{
    {"/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit", Method::kShouldRateLimit},
    {"/grpc.health.v1.Health/Check", Method::kHealthCheck},
    {"/grpc.health.v1.Health/Watch", Method::kHealthWatch},
    {"/sluice.v1.RateLimit/Check", Method::kCheck},
    {"/sluice.v1.RateLimit/Release", Method::kRelease},
    {"/sluice.v1.RateLimit/Renew", Method::kRenew},
    {"/sluice.v1.RateLimit/Settle", Method::kSettle},
    {"/sluice.v1.RateLimit/Refund", Method::kRefund},
}};

// By a call's path; kUnknown if no service has it.
Method MethodAt(std::string_view path) {
  const auto* const row = std::ranges::find(kRows, path, &Row::path);
  return row == kRows.end() ? Method::kUnknown : row->method;
}

// Whether a content-type is gRPC's: application/grpc, with +proto or parameters behind it.
bool IsGrpc(std::string_view content_type) {
  constexpr std::string_view kGrpc = "application/grpc";
  if (!content_type.starts_with(kGrpc)) {
    return false;
  }
  content_type.remove_prefix(kGrpc.size());
  return content_type.empty() || content_type == "+proto" || content_type.front() == ';' ||
         content_type.starts_with("+proto;");
}

}  // namespace

Connection::Call& Connection::TakeCall(wire::Http2Stream& stream) {
  Call& call = calls_.Take();
  OnBegun(call, stream);
  call.exchange = nullptr;
  call.method = Method::kUnknown;
  call.encoding.clear();
  call.deadline = net::SteadyTime::max();
  call.ended = false;
  call.sent = wire::ServingStatus::kUnknown;
  call.watched = Watched::kUnknown;
  return call;
}

void Connection::OnHeader(wire::Http2Stream& stream, bool whole) noexcept {
  Call& call = TakeCall(stream);
  const wire::HttpRequest& header = stream.request();
  if (stream.fault() == wire::Http2Fault::kHeaderTooLarge) {
    Refuse(call, {GrpcCode::kResourceExhausted, "the header has too many fields or bytes"});
    return;
  }
  if (header.method != wire::HttpMethod::kPost) {
    RefuseHttp(call, 405);
    return;
  }
  if (!IsGrpc(header.Field("content-type"))) {
    RefuseHttp(call, 415);
    return;
  }
  if (const Status status = ReadHeader(call, header); status.code != GrpcCode::kOk) {
    Refuse(call, status);
  } else if (whole) {
    Run(call);
  }
}

Status Connection::ReadHeader(Call& call, const wire::HttpRequest& header) {
  call.method = MethodAt(header.target);
  if (call.method == Method::kUnknown) {
    return {GrpcCode::kUnimplemented, "unknown method"};
  }
  if (call.method == Method::kShouldRateLimit && front_end_.rate_limits_ == nullptr) {
    return {GrpcCode::kUnimplemented, "Envoy's rate limit service is not configured here"};
  }
  const bool is_health = call.method == Method::kHealthCheck || call.method == Method::kHealthWatch;
  if (front_end_.token_.asks() && !is_health) {
    constexpr std::string_view kBearer = "Bearer ";
    std::string_view given = header.Field("authorization");
    const bool is_bearer = given.starts_with(kBearer);
    given.remove_prefix(is_bearer ? kBearer.size() : 0);
    if (!is_bearer || !front_end_.token_.Admits(given)) {
      return {GrpcCode::kUnauthenticated, "authorization: Bearer TOKEN is missing or wrong"};
    }
  }
  call.encoding = header.Field("grpc-encoding");
  if (const std::string_view timeout = header.Field("grpc-timeout"); !timeout.empty()) {
    const auto read = wire::ReadGrpcTimeout(timeout);
    if (!read) {
      return {GrpcCode::kInternal, "malformed grpc-timeout"};
    }
    call.deadline = now() + *read;
  }
  return {};
}

void Connection::OnBody(wire::Http2Stream& stream, std::string_view bytes) noexcept {
  Call& call = CallOf(stream);
  if (call.ended) {
    session().Consume(stream, bytes.size());
    return;
  }
  // The kept bytes count against the connection's window until the call is run.
  if (call.body.size() + bytes.size() >
      front_end_.settings_.message_bytes + wire::kGrpcPrefixBytes) {
    session().Consume(stream, bytes.size());
    Refuse(call, {GrpcCode::kResourceExhausted, "the message is too large"});
    return;
  }
  call.body += bytes;
}

void Connection::OnEnd(wire::Http2Stream& stream) noexcept {
  Call& call = CallOf(stream);
  if (!call.ended) {
    Run(call);
  }
}

void Connection::OnClosed(wire::Http2Stream& stream) noexcept {
  Call& call = CallOf(stream);
  if (Exchange* const exchange = std::exchange(call.exchange, nullptr)) {
    std::erase(ready_, exchange);
    exchange->Abandon();
  }
  OnGone(call);
  calls_.Return(call);
}

// The call is complete.
void Connection::Run(Call& call) {
  const wire::GrpcMessage message = wire::ReadGrpcMessage(
      call.body, call.encoding, front_end_.settings_.message_bytes, inflated_);
  if (message.code != GrpcCode::kOk) {
    Refuse(call, {message.code, message.problem});
    return;
  }
  if (now() >= call.deadline) {
    Refuse(call, {GrpcCode::kDeadlineExceeded, "the deadline passed before the call was complete"});
    return;
  }
  if (call.method == Method::kHealthCheck || call.method == Method::kHealthWatch) {
    RunHealth(call, message.bytes);
    return;
  }
  if (const Status status = Ask(call, message.bytes); status.code != GrpcCode::kOk) {
    Refuse(call, status);
    return;
  }
  DropBody(call);
  call.exchange->owner_context = &call;
  OnWhole(call);
}

// Takes an exchange for the call, which is submitted with all others of this turn.
Status Connection::Ask(Call& call, std::string_view message) {
  if (call.method != Method::kShouldRateLimit) {
    NativeExchange& exchange = front_end_.natives_.Take();
    const Status status = exchange.Begin(*this, front_end_.settings_.keys, call.method, message);
    if (status.code != GrpcCode::kOk) {
      exchange.Return();
      return status;
    }
    exchange.operation.deadline = call.deadline;
    ReadRequestId(*call.stream, exchange.operation.request_id);
    ReadTrace(*call.stream, exchange.operation.trace);
    exchange.operation.listener = front_end_.settings_.name;
    call.exchange = &exchange;
    batch_.push_back(&exchange.operation);
    return {};
  }
  RateLimitExchange& exchange = front_end_.rate_limit_calls_.Take();
  if (!exchange.Begin(*this, message, front_end_.rate_limits_->settings().compatible)) {
    const Status status{GrpcCode::kInternal, exchange.error()};
    exchange.Return();
    return status;
  }
  exchange.call().deadline = call.deadline;
  ReadRequestId(*call.stream, exchange.call().request_id);
  ReadTrace(*call.stream, exchange.call().trace);
  exchange.call().listener = front_end_.settings_.name;
  call.exchange = &exchange;
  rate_limit_batch_.push_back(&exchange.call());
  return {};
}

}  // namespace sluice::frontend::grpc
