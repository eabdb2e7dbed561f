#include <algorithm>
#include <array>
#include <utility>

#include "frontend/grpc/connection.h"
#include "frontend/grpc/front_end.h"
#include "wire/grpc_message.h"

// How calls are answered, and watches are notified of changes.
namespace sluice::frontend::grpc {

using wire::GrpcCode;

namespace {

constexpr std::size_t kMostStatusText = 1024;
constexpr wire::HttpField kContentType{"content-type", "application/grpc"};
// What clients may compress with (grpc-accept-encoding); answers are not compressed.
constexpr wire::HttpField kAcceptEncoding{"grpc-accept-encoding", "identity,gzip"};

// A code for a fault of the call itself, not of the server's state.
bool IsRefusal(GrpcCode code) {
  return code != GrpcCode::kOk && code != GrpcCode::kResourceExhausted &&
         code != GrpcCode::kDeadlineExceeded && code != GrpcCode::kUnavailable;
}

}  // namespace

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
  base::RequestId id;
  ReadRequestId(*call.stream, id);
  AnswerMessage(call, message_, id.is_wanted() ? id.View() : std::string_view());
}

// The server serves until it stops. The service also waits for its configuration, if it is set to.
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

void Connection::ReadRequestId(const wire::Http2Stream& stream, base::RequestId& id) {
  const wire::HttpRequest& header = stream.request();
  if (header.fields.Has(wire::RareField::kRequestId)) {
    id.Take(header.Field(kRequestIdField));
  }
}

void Connection::ReadTrace(const wire::Http2Stream& stream, base::TraceParent& trace) {
  const wire::HttpRequest& header = stream.request();
  if (header.fields.Has(wire::RareField::kTraceParent)) {
    trace.Take(header.TraceParent());
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
  base::RequestId id;
  ReadRequestId(*call.stream, id);
  Refuse(call, status, id.View());
}

void Connection::Refuse(Call& call, const Status& status, std::string_view id) {
  call.ended = true;
  DropBody(call);
  std::array<wire::HttpField, 5> all{kContentType, {kRequestIdField, id}};
  const auto trailers = Trailers(status);
  std::ranges::copy(trailers, all.begin() + 2);
  std::size_t count = 2 + trailers.size();
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

void Connection::AnswerMessage(Call& call, std::string_view framed, std::string_view id) {
  call.ended = true;
  DropBody(call);
  fields_[0] = kContentType;
  fields_[1] = {kRequestIdField, id};
  session().Answer(*call.stream, 200, std::span(fields_).first(id.empty() ? 1 : 2), framed,
                   /*last=*/false);
  session().Finish(*call.stream, Trailers({}));
  OnAnswered(call);
}

void Connection::Answer(Exchange& exchange) {
  Call& call = *static_cast<Call*>(exchange.owner_context);
  message_.clear();
  const std::size_t begun = wire::BeginGrpcMessage(message_);
  Status status = exchange.Render(message_);
  call.exchange = nullptr;
  base::RequestId& id = exchange.request_id();
  if (status.code == GrpcCode::kOk) {
    wire::EndGrpcMessage(message_, begun);
    AnswerMessage(call, message_,
                  exchange.is_denied() || id.is_wanted() ? id.View() : std::string_view());
  } else {
    if (now() >= call.deadline) {
      status = {GrpcCode::kDeadlineExceeded, "the store did not answer in time"};
    }
    Refuse(call, status, id.View());
  }
  exchange.Return();
}

}  // namespace sluice::frontend::grpc
