#include "frontend/grpc/connection.h"

#include <algorithm>
#include <utility>

#include <boost/asio/error.hpp>

#include "frontend/grpc/door.h"
#include "wire/grpc_message.h"

namespace sluice::frontend::grpc {

namespace {

using wire::GrpcCode;

constexpr std::size_t kKeptBytes = 16 * 1024;
constexpr std::size_t kMostStatusText = 1024;
constexpr wire::HttpField kContentType{"content-type", "application/grpc"};
// What clients may compress with (grpc-accept-encoding); answers are not compressed.
constexpr wire::HttpField kAcceptEncoding{"grpc-accept-encoding", "identity,gzip"};

wire::Http2Limits LimitsOf(const DoorSettings& settings) {
  wire::Http2Limits limits;
  limits.streams = settings.streams;
  limits.header_bytes = settings.header_bytes;
  // Room for more than is taken, so that too much is seen, and answered, rather than waited for.
  limits.stream_window = static_cast<std::uint32_t>(settings.message_bytes + 16 * 1024);
  limits.connection_window = std::max<std::uint32_t>(1024 * 1024, 2 * limits.stream_window);
  return limits;
}

}  // namespace

Connection::Connection(Door& door, std::unique_ptr<net::Transport> transport)
    : door_(door),
      transport_(std::move(transport)),
      session_(*this, door.http2_memory_, LimitsOf(door.settings_),
               std::chrono::steady_clock::now()),
      timer_([this] { OnTimer(); }) {}

void Connection::Start() {
  now_ = std::chrono::steady_clock::now();
  idle_since_ = now_;
  if (door_.settings_.max_age > Duration::zero()) {
    old_at_ = now_ + door_.NextAge();
  }
  Settle();
}

void Connection::Drain() {
  now_ = std::chrono::steady_clock::now();
  if (!draining_) {
    draining_ = true;
    draining_since_ = now_;
    session_.Shutdown(/*final=*/false);
  }
  while (!watching_.empty()) {
    Call& call = watching_.front();
    TellHealth(call);
    session_.Finish(*call.stream, Trailers({GrpcCode::kUnavailable, "the server stops"}));
    MoveToAnswered(call);
  }
  Settle();
}

void Connection::Close() {
  if (closed_) {
    return;
  }
  closed_ = true;
  timer_.Cancel();
  transport_->Close();
  ready_.clear();
  for (Calls* list : {&coming_, &asked_, &watching_, &answered_}) {
    for (Call& call : *list) {
      if (call.exchange != nullptr) {
        std::exchange(call.exchange, nullptr)->Abandon();
      }
    }
  }
  door_.Forget(*this);  // Perhaps the last owner: nothing after this line.
}

void Connection::OnHealthChanged() {
  now_ = std::chrono::steady_clock::now();
  for (Call& call : watching_) {
    TellHealth(call);
  }
  Settle();
}

void Connection::OnRead(const boost::system::error_code& error, std::size_t size) noexcept {
  const auto self = shared_from_this();
  reading_ = false;
  if (closed_) {
    return;
  }
  now_ = std::chrono::steady_clock::now();
  if (error) {
    if (error != boost::asio::error::eof || ending_) {
      Close();
      return;
    }
    input_ended_ = true;  // It may still want its answers.
  } else if (!ending_) {
    Receive({input_.data(), size});
  }  // Else dropped: we only wait for the client's end.
  Settle();
}

void Connection::OnWritten(const boost::system::error_code& error) noexcept {
  const auto self = shared_from_this();
  writing_.clear();
  if (closed_) {
    return;
  }
  if (error) {
    Close();
    return;
  }
  now_ = std::chrono::steady_clock::now();
  Settle();
}

// Answers that come in the turn that asked are taken up by Settle(); late ones share one turn, and
// so one write, with whatever else comes before the loop gets to it.
void Connection::OnExchangeReady(Exchange& exchange) {
  ready_.push_back(&exchange);
  if (in_turn_ || settle_posted_) {
    return;
  }
  settle_posted_ = true;
  door_.loop_.Post([self = shared_from_this()] {
    self->settle_posted_ = false;
    if (!self->closed_) {
      self->now_ = std::chrono::steady_clock::now();
      self->Settle();
    }
  });
}

void Connection::Receive(std::string_view bytes) {
  in_turn_ = true;
  rate_limit_batch_.clear();
  check_batch_.clear();
  broken_ = !session_.Receive(bytes, now_) || broken_;
  if (!rate_limit_batch_.empty()) {
    door_.rate_limits_->Decide(rate_limit_batch_, *door_.pin_);
  }
  if (!check_batch_.empty()) {
    door_.service_.Decide(check_batch_);
  }
  in_turn_ = false;
  if (std::exchange(headers_seen_, session_.headers()) != session_.headers()) {
    header_since_ = now_;
  }
}

Connection::Call& Connection::TakeCall(wire::Http2Stream& stream) {
  if (free_.empty()) {
    all_.push_back(std::make_unique<Call>());
    free_.push_back(all_.back().get());
  }
  Call& call = *free_.back();
  free_.pop_back();
  call.stream = &stream;
  call.exchange = nullptr;
  call.method = Method::kUnknown;
  call.body.clear();
  call.encoding.clear();
  call.since = now_;
  call.deadline = net::SteadyTime::max();
  call.ended = false;
  call.told = wire::ServingStatus::kUnknown;
  call.watched = Watched::kUnknown;
  stream.context = &call;
  coming_.push_back(call);
  return call;
}

void Connection::OnHeader(wire::Http2Stream& stream, bool whole) noexcept {
  Call& call = TakeCall(stream);
  const wire::Http1Request& header = stream.request();
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

Status Connection::ReadHeader(Call& call, const wire::Http1Request& header) {
  call.method = MethodAt(header.target);
  if (call.method == Method::kUnknown) {
    return {GrpcCode::kUnimplemented, "there is no such method"};
  }
  if (call.method == Method::kShouldRateLimit && door_.rate_limits_ == nullptr) {
    return {GrpcCode::kUnimplemented, "Envoy's rate limit service is not configured here"};
  }
  const bool is_health = call.method == Method::kHealthCheck || call.method == Method::kHealthWatch;
  if (door_.token_.asks() && !is_health) {
    constexpr std::string_view kBearer = "Bearer ";
    std::string_view given = header.Field("authorization");
    const bool is_bearer = given.starts_with(kBearer);
    given.remove_prefix(is_bearer ? kBearer.size() : 0);
    if (!is_bearer || !door_.token_.Admits(given)) {
      return {GrpcCode::kUnauthenticated, "authorization: Bearer TOKEN is missing or wrong"};
    }
  }
  call.encoding = header.Field("grpc-encoding");
  if (const std::string_view timeout = header.Field("grpc-timeout"); !timeout.empty()) {
    const auto read = wire::ReadGrpcTimeout(timeout);
    if (!read) {
      return {GrpcCode::kInternal, "malformed grpc-timeout"};
    }
    call.deadline = now_ + *read;
  }
  return {};
}

void Connection::OnBody(wire::Http2Stream& stream, std::string_view bytes) noexcept {
  Call& call = *static_cast<Call*>(stream.context);
  if (call.ended) {
    session_.Consume(stream, bytes.size());
    return;
  }
  // What is kept counts against the connection's window until the call is run.
  if (call.body.size() + bytes.size() > door_.settings_.message_bytes + wire::kGrpcPrefixBytes) {
    session_.Consume(stream, bytes.size());
    Refuse(call, {GrpcCode::kResourceExhausted, "the message is too large"});
    return;
  }
  call.body += bytes;
}

void Connection::OnEnd(wire::Http2Stream& stream) noexcept {
  Call& call = *static_cast<Call*>(stream.context);
  if (!call.ended) {
    Run(call);
  }
}

void Connection::OnClosed(wire::Http2Stream& stream) noexcept {
  Call& call = *static_cast<Call*>(stream.context);
  if (Exchange* const exchange = std::exchange(call.exchange, nullptr)) {
    std::erase(ready_, exchange);
    exchange->Abandon();
  }
  call.unlink();
  call.stream = nullptr;
  if (call.body.capacity() > kKeptBytes) {
    call.body = std::string();
  }
  free_.push_back(&call);
  idle_since_ = now_;
}

// The call is whole.
void Connection::Run(Call& call) {
  const wire::GrpcMessage message =
      wire::ReadGrpcMessage(call.body, call.encoding, door_.settings_.message_bytes, inflated_);
  if (message.code != GrpcCode::kOk) {
    Refuse(call, {message.code, message.problem});
    return;
  }
  if (now_ >= call.deadline) {
    Refuse(call, {GrpcCode::kDeadlineExceeded, "the deadline passed before the call was whole"});
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
  asked_.splice(asked_.end(), coming_, coming_.iterator_to(call));
}

// Takes an exchange for the call, to be asked with all others of this turn.
Status Connection::Ask(Call& call, std::string_view message) {
  if (call.method == Method::kCheck) {
    CheckExchange& exchange = door_.checks_.Take();
    const Status status = exchange.Begin(*this, message);
    if (status.code != GrpcCode::kOk) {
      exchange.Return();
      return status;
    }
    exchange.deadline = call.deadline;
    call.exchange = &exchange;
    check_batch_.push_back(&exchange);
    return {};
  }
  RateLimitExchange& exchange = door_.rate_limit_calls_.Take();
  if (!exchange.Begin(*this, message, door_.rate_limits_->settings().compatible)) {
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
    Refuse(call, {GrpcCode::kInternal, "the message is no HealthCheckRequest"});
    return;
  }
  call.watched = service->empty()                             ? Watched::kServer
                 : *service == door_.settings_.health_service ? Watched::kService
                                                              : Watched::kUnknown;
  if (call.method == Method::kHealthWatch) {
    if (static_cast<std::size_t>(std::distance(watching_.begin(), watching_.end())) >=
        door_.settings_.watches) {
      Refuse(call, {GrpcCode::kResourceExhausted, "too many watches on one connection"});
      return;
    }
    DropBody(call);
    watching_.splice(watching_.end(), coming_, coming_.iterator_to(call));
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
  const bool serving = call.watched == Watched::kServer ? !draining_ : door_.health_.serving();
  return serving ? wire::ServingStatus::kServing : wire::ServingStatus::kNotServing;
}

void Connection::TellHealth(Call& call) {
  const wire::ServingStatus status = HealthOf(call);
  if (status == call.told) {
    return;
  }
  const bool first = !call.stream->answered();
  call.told = status;
  message_.clear();
  const std::size_t begun = wire::BeginGrpcMessage(message_);
  wire::AppendHealthCheckResponse(message_, status);
  wire::EndGrpcMessage(message_, begun);
  if (first) {
    fields_ = {kContentType, kAcceptEncoding};
    session_.Answer(*call.stream, 200, std::span(fields_).first(2), message_, /*last=*/false);
  } else {
    session_.Append(*call.stream, message_);
  }
}

std::span<const wire::HttpField> Connection::Trailers(const Status& status) {
  fields_[0] = {"grpc-status", wire::DigitsOf(status.code)};
  if (status.message.empty()) {
    return std::span(fields_).first(1);
  }
  status_text_.clear();
  wire::AppendGrpcMessage(status_text_, status.message.substr(0, kMostStatusText));
  fields_[1] = {"grpc-message", status_text_};
  return std::span(fields_).first(2);
}

void Connection::MoveToAnswered(Call& call) {
  call.since = now_;
  call.unlink();
  answered_.push_back(call);
}

// It is read, or of no use any more.
void Connection::DropBody(Call& call) {
  if (!call.body.empty()) {
    session_.Consume(*call.stream, call.body.size());
    call.body.clear();
  }
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
  session_.Answer(*call.stream, 200, std::span(all).first(count), {});
  MoveToAnswered(call);
}

void Connection::RefuseHttp(Call& call, int status) {
  call.ended = true;
  fields_[0] = {"content-type", "text/plain; charset=utf-8"};
  session_.Answer(*call.stream, status, std::span(fields_).first(1),
                  status == 405 ? "gRPC calls are POST\n"
                                : "gRPC calls have the content-type application/grpc\n");
  MoveToAnswered(call);
}

void Connection::AnswerMessage(Call& call, std::string_view framed) {
  call.ended = true;
  DropBody(call);
  fields_[0] = kContentType;
  session_.Answer(*call.stream, 200, std::span(fields_).first(1), framed, /*last=*/false);
  session_.Finish(*call.stream, Trailers({}));
  MoveToAnswered(call);
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
    if (now_ >= call.deadline) {
      status = {GrpcCode::kDeadlineExceeded, "the store did not answer in time"};
    }
    Refuse(call, status);
  }
  exchange.Return();
}

// Everything that can be done without waiting, then waits for what is missing.
void Connection::Settle() {
  const auto self = shared_from_this();
  in_turn_ = true;
  for (std::size_t i = 0; i < ready_.size(); ++i) {
    Answer(*ready_[i]);
  }
  ready_.clear();
  session_.Send(output_, door_.settings_.output_bytes);
  in_turn_ = false;
  StartWrite();
  FinishIfDone();
  if (closed_) {
    return;
  }
  StartRead();
  Watch();
}

void Connection::StartWrite() {
  if (output_.empty() || !writing_.empty()) {
    return;
  }
  std::swap(output_, writing_);
  writing_since_ = now_;
  transport_->Write(writing_, shared_from_this());
}

// Ends the connection once it has nothing more to say and nothing more to hear.
void Connection::FinishIfDone() {
  if (closed_ || ending_ || !writing_.empty() || !output_.empty()) {
    return;
  }
  if (broken_ || session_.finished() || (last_told_ && session_.open() == 0)) {
    // Closing with bytes unread may overtake what was said last.
    ending_ = true;
    ending_since_ = now_;
    transport_->ShutdownWrite();
  } else if (input_ended_ && session_.open() == 0) {
    Close();
  }
}

void Connection::StartRead() {
  const bool may_read = ending_ || (!broken_ && output_.size() < door_.settings_.output_bytes);
  if (!reading_ && !input_ended_ && may_read) {
    reading_ = true;
    transport_->Read(input_, shared_from_this());
  }
}

net::SteadyTime Connection::GraceEnd() const {
  return draining_since_ + door_.settings_.drain_grace;
}

net::SteadyTime Connection::Deadline() const {
  const DoorSettings& settings = door_.settings_;
  if (ending_) {
    return std::min<net::SteadyTime>(ending_since_ + settings.linger, end_at_);
  }
  net::SteadyTime deadline = end_at_;
  const auto also = [&deadline](net::SteadyTime since, Duration limit) {
    deadline = std::min<net::SteadyTime>(deadline, since + limit);
  };
  if (session_.open() == 0) {
    also(idle_since_, settings.idle_timeout);
  }
  if (session_.in_header()) {
    also(header_since_, settings.header_timeout);
  }
  if (!coming_.empty()) {
    also(coming_.front().since, settings.body_timeout);
  }
  if (!answered_.empty()) {
    also(answered_.front().since, settings.write_timeout);
  }
  if (!writing_.empty()) {
    also(writing_since_, settings.write_timeout);
  }
  if (draining_ && !last_told_) {
    also(draining_since_, settings.drain_grace);
  }
  return draining_ ? deadline : std::min(deadline, old_at_);
}

// The timer is armed anew only for an earlier deadline; a later one is found when it fires.
void Connection::Watch() {
  const net::SteadyTime deadline = Deadline();
  if (deadline < timer_at_) {
    timer_at_ = deadline;
    door_.loop_.Arm(timer_, deadline);
  }
}

void Connection::OnTimer() {
  const auto self = shared_from_this();
  timer_at_ = net::SteadyTime::max();
  now_ = std::chrono::steady_clock::now();
  if (closed_) {
    return;
  }
  if (now_ < Deadline()) {
    Watch();
    return;
  }
  const DoorSettings& settings = door_.settings_;
  if (draining_ && !last_told_ && now_ >= GraceEnd()) {
    last_told_ = true;
    session_.Shutdown(/*final=*/true);
  }
  const auto over = [this](net::SteadyTime since, Duration limit) { return now_ >= since + limit; };
  const bool stuck = (!writing_.empty() && over(writing_since_, settings.write_timeout)) ||
                     (!answered_.empty() && over(answered_.front().since, settings.write_timeout));
  const bool idle = session_.open() == 0 && over(idle_since_, settings.idle_timeout);
  const bool half_a_header = session_.in_header() && over(header_since_, settings.header_timeout);
  if (stuck || idle || half_a_header || ending_ || now_ >= end_at_) {
    Close();
    return;
  }
  if (!draining_ && now_ >= old_at_) {
    end_at_ = now_ + settings.max_age_grace;
    Drain();
    return;
  }
  EndLateBodies();
  Settle();
}

void Connection::EndLateBodies() {
  while (!coming_.empty() && now_ >= coming_.front().since + door_.settings_.body_timeout) {
    Refuse(coming_.front(), {GrpcCode::kDeadlineExceeded, "the message did not come in time"});
  }
}

}  // namespace sluice::frontend::grpc
