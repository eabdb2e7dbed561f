#include "frontend/grpc/connection.h"

#include <algorithm>
#include <utility>

#include "frontend/grpc/front_end.h"

namespace sluice::frontend::grpc {

namespace {

using wire::GrpcCode;

Http2Settings SettingsOf(const FrontEndSettings& settings) {
  wire::Http2Limits limits;
  limits.streams = settings.streams;
  limits.header_bytes = settings.header_bytes;
  // A little more than is accepted, so that an excess is seen and answered.
  limits.stream_window = static_cast<std::uint32_t>(settings.message_bytes + 16 * 1024);
  limits.connection_window = std::max<std::uint32_t>(1024 * 1024, 2 * limits.stream_window);
  return {.limits = limits,
          .output_bytes = settings.output_bytes,
          .header_timeout = settings.header_timeout,
          .body_timeout = settings.body_timeout,
          .idle_timeout = settings.idle_timeout,
          .conversation = {.write_timeout = settings.write_timeout,
                           .linger = settings.linger,
                           .drain_grace = settings.drain_grace,
                           .exact_now = true}};  // Calls have deadlines of milliseconds.
}

}  // namespace

Connection::Connection(FrontEnd& front_end, std::unique_ptr<net::Transport> transport)
    : Http2Conversation(front_end.loop_, front_end.connections_, std::move(transport),
                        front_end.http2_memory_, SettingsOf(front_end.settings_)),
      front_end_(front_end) {
  if (front_end_.settings_.max_age > Duration::zero()) {
    old_at_ = now() + front_end_.NextAge();
  }
}

void Connection::OnDrain(bool first) {
  Http2Conversation::OnDrain(first);
  while (!watching_.empty()) {
    Call& call = watching_.front();
    TellHealth(call);
    session().Finish(*call.stream,
                     Trailers({GrpcCode::kUnavailable, "the server is shutting down"}));
    OnAnswered(call);
  }
}

void Connection::OnClose() {
  ready_.clear();
  for (const auto& call : calls_.all()) {
    if (call->exchange != nullptr) {
      std::exchange(call->exchange, nullptr)->Abandon();
    }
  }
}

void Connection::OnHealthChanged() {
  BeginTurn();
  for (Call& call : watching_) {
    TellHealth(call);
  }
  Settle();
}

void Connection::OnExchangeReady(Exchange& exchange) {
  ready_.push_back(&exchange);
  SettleSoon();
}

void Connection::AskBatch() {
  if (!rate_limit_batch_.empty()) {
    front_end_.rate_limits_->Decide(rate_limit_batch_, *front_end_.pin_);
    rate_limit_batch_.clear();
  }
  if (!batch_.empty()) {
    front_end_.service_.Submit(batch_);
    batch_.clear();
  }
}

void Connection::AnswerReady() {
  for (std::size_t i = 0; i < ready_.size(); ++i) {
    Answer(*ready_[i]);
  }
  ready_.clear();
}

net::SteadyTime Connection::Deadline() {
  const net::SteadyTime deadline = std::min(Http2Conversation::Deadline(), end_at_);
  return draining() ? deadline : std::min(deadline, old_at_);
}

bool Connection::OnDeadline() {
  if (now() >= end_at_ || !Http2Conversation::OnDeadline()) {
    return false;
  }
  if (!draining() && now() >= old_at_) {
    end_at_ = now() + front_end_.settings_.max_age_grace;
    Drain();
  }
  return true;
}

void Connection::RefuseLate(Request& request) {
  Refuse(static_cast<Call&>(request),
         {GrpcCode::kDeadlineExceeded, "the message did not arrive in time"});
}

}  // namespace sluice::frontend::grpc
