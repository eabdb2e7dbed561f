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

constexpr std::size_t kMostStatusText = 1024;
constexpr wire::HttpField kContentType{"content-type", "application/grpc"};
// What clients may compress with (grpc-accept-encoding); answers are not compressed.
constexpr wire::HttpField kAcceptEncoding{"grpc-accept-encoding", "identity,gzip"};

// A code that says what is wrong with the call itself, and not how things are.
bool IsRefusal(GrpcCode code) {
  return code != GrpcCode::kOk && code != GrpcCode::kResourceExhausted &&
         code != GrpcCode::kDeadlineExceeded && code != GrpcCode::kUnavailable;
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
  // What is kept counts against the connection's window until the call is run.
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

// The call is whole.
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

// Takes an exchange for the call, to be asked with all others of this turn.
Status Connection::Ask(Call& call, std::string_view message) {
  if (call.method == Method::kCheck) {
    CheckExchange& exchange = front_end_.checks_.Take();
    const Status status = exchange.Begin(*this, front_end_.settings_.keys, message);
    if (status.code != GrpcCode::kOk) {
      exchange.Return();
      return status;
    }
    exchange.deadline = call.deadline;
    call.exchange = &exchange;
    check_batch_.push_back(&exchange);
    return {};
  }
  if (call.method != Method::kShouldRateLimit) {
    RedemptionExchange& exchange = front_end_.redemptions_.Take();
    const Status status =
        exchange.Begin(*this, front_end_.service_, front_end_.settings_.keys, call.method, message);
    if (status.code != GrpcCode::kOk) {
      exchange.Return();
      return status;
    }
    exchange.deadline = call.deadline;
    call.exchange = &exchange;
    redemption_batch_.push_back(&exchange);
    return {};
  }
  RateLimitExchange& exchange = front_end_.rate_limit_calls_.Take();
  if (!exchange.Begin(*this, message, front_end_.rate_limits_->settings().compatible)) {
    const Status status{GrpcCode::kInternal, exchange.error()};
    exchange.Return();
    return status;
  }
  exchange.deadline = call.deadline;
  call.exchange = &exchange;
  rate_limit_batch_.push_back(&exchange);
  return {};
}

void Connection::RunHealth(Call& call, std::string_view message) {
  const auto service = wire::ReadHealthCheckRequest(message);
  if (!service) {
    Refuse(call, {GrpcCode::kInternal, "the message is not a HealthCheckRequest"});
    return;
  }
  call.watched = service->empty()                                  ? Watched::kServer
                 : *service == front_end_.settings_.health_service ? Watched::kService
                                                                   : Watched::kUnknown;
  if (call.method == Method::kHealthWatch) {
    if (static_cast<std::size_t>(std::distance(watching_.begin(), watching_.end())) >=
        front_end_.settings_.watches) {
      Refuse(call, {GrpcCode::kResourceExhausted, "too many watches on one connection"});
      return;
    }
    DropBody(call);
    OnWhole(call);
    watching_.push_back(call);
    TellHealth(call);
    return;
  }
  if (call.watched == Watched::kUnknown) {
    Refuse(call, {GrpcCode::kNotFound, "unknown service"});
    return;
  }
  message_.clear();
  const std::size_t begun = wire::BeginGrpcMessage(message_);
  wire::AppendHealthCheckResponse(message_, HealthOf(call));
  wire::EndGrpcMessage(message_, begun);
  AnswerMessage(call, message_);
}

// The server serves until it stops; the service also waits for its configuration, if told to.
wire::ServingStatus Connection::HealthOf(const Call& call) const {
  if (call.watched == Watched::kUnknown) {
    return wire::ServingStatus::kServiceUnknown;
  }
  const bool serving =
      call.watched == Watched::kServer ? !draining() : front_end_.health_.serving();
  return serving ? wire::ServingStatus::kServing : wire::ServingStatus::kNotServing;
}

void Connection::TellHealth(Call& call) {
  const wire::ServingStatus status = HealthOf(call);
  if (status == call.sent) {
    return;
  }
  const bool first = !call.stream->answered();
  call.sent = status;
  message_.clear();
  const std::size_t begun = wire::BeginGrpcMessage(message_);
  wire::AppendHealthCheckResponse(message_, status);
  wire::EndGrpcMessage(message_, begun);
  if (first) {
    fields_ = {kContentType, kAcceptEncoding};
    session().Answer(*call.stream, 200, std::span(fields_).first(2), message_, /*last=*/false);
  } else {
    session().Append(*call.stream, message_);
  }
}

// Every call ends by these, once.
std::span<const wire::HttpField> Connection::Trailers(const Status& status) {
  const auto code = static_cast<int>(status.code);
  if (front_end_.settings_.answers != nullptr) {
    front_end_.settings_.answers->Count(code);
  }
  if (front_end_.settings_.log != nullptr && IsRefusal(status.code)) [[unlikely]] {
    front_end_.settings_.log->Note(now().time_since_epoch(), code, transport().peer_address(),
                                   status.message);
  }
  fields_[0] = {"grpc-status", wire::DigitsOf(status.code)};
  if (status.message.empty()) {
    return std::span(fields_).first(1);
  }
  status_text_.clear();
  wire::AppendGrpcMessage(status_text_, status.message.substr(0, kMostStatusText));
  fields_[1] = {"grpc-message", status_text_};
  return std::span(fields_).first(2);
}

void Connection::Refuse(Call& call, const Status& status) {
  call.ended = true;
  DropBody(call);
  std::array<wire::HttpField, 4> all{kContentType};
  const auto trailers = Trailers(status);
  std::ranges::copy(trailers, all.begin() + 1);
  std::size_t count = 1 + trailers.size();
  if (status.code == GrpcCode::kUnimplemented) {
    all[count++] = kAcceptEncoding;
  }
  session().Answer(*call.stream, 200, std::span(all).first(count), {});
  OnAnswered(call);
}

void Connection::RefuseHttp(Call& call, int status) {
  call.ended = true;
  fields_[0] = {"content-type", "text/plain; charset=utf-8"};
  session().Answer(*call.stream, status, std::span(fields_).first(1),
                   status == 405 ? "gRPC calls are POST\n"
                                 : "gRPC calls have the content-type application/grpc\n");
  OnAnswered(call);
}

void Connection::AnswerMessage(Call& call, std::string_view framed) {
  call.ended = true;
  DropBody(call);
  fields_[0] = kContentType;
  session().Answer(*call.stream, 200, std::span(fields_).first(1), framed, /*last=*/false);
  session().Finish(*call.stream, Trailers({}));
  OnAnswered(call);
}

void Connection::Answer(Exchange& exchange) {
  Call& call = *static_cast<Call*>(exchange.owner_context);
  message_.clear();
  const std::size_t begun = wire::BeginGrpcMessage(message_);
  Status status = exchange.Render(message_);
  call.exchange = nullptr;
  if (status.code == GrpcCode::kOk) {
    wire::EndGrpcMessage(message_, begun);
    AnswerMessage(call, message_);
  } else {
    if (now() >= call.deadline) {
      status = {GrpcCode::kDeadlineExceeded, "the store did not answer in time"};
    }
    Refuse(call, status);
  }
  exchange.Return();
}

}  // namespace sluice::frontend::grpc
