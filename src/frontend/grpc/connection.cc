#include "frontend/grpc/connection.h"

#include <algorithm>
#include <utility>

#include <boost/asio/error.hpp>

#include "frontend/grpc/door.h"

namespace sluice::frontend::grpc {

namespace {

using wire::GrpcCode;

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
