#include "frontend/http/connection.h"

#include <algorithm>
#include <utility>

#include <boost/asio/error.hpp>

#include "base/coarse_clock.h"
#include "frontend/http/door.h"
#include "wire/http2_session.h"

namespace sluice::frontend::http {

namespace {
constexpr std::size_t kReadBytes = 8 * 1024;
}  // namespace

Connection::Connection(Door& door, std::unique_ptr<net::Transport> transport)
    : door_(door),
      transport_(std::move(transport)),
      parser_(door.settings_.request),
      timer_([this] { OnTimer(); }) {}

void Connection::Start() {
  Settle();
}

void Connection::Drain() {
  draining_ = true;
  draining_since_ = std::chrono::steady_clock::now();
  Settle();
}

void Connection::Close() {
  if (closed_) {
    return;
  }
  closed_ = true;
  timer_.Cancel();
  transport_->Close();
  for (std::size_t i = first_; i < pipeline_.size(); ++i) {
    pipeline_[i]->Abandon();
  }
  pipeline_.clear();
  first_ = 0;
  door_.Forget(*this);  // Perhaps the last owner: nothing after this line.
}

void Connection::OnRead(const boost::system::error_code& error, std::size_t size) noexcept {
  const auto self = shared_from_this();
  reading_ = false;
  if (closed_) {
    return;
  }
  if (error) {
    if (error != boost::asio::error::eof || ending_) {
      Close();
      return;
    }
    input_ended_ = true;  // It may still want its answers.
  } else if (!ending_) {
    parser_.Commit(size);
    if (!known_ && HandOn()) {
      return;
    }
    parsed_all_ = !known_;
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
  Settle();
}

// HTTP/2 with prior knowledge begins with a preface that is no request of HTTP/1
// (RFC 9113, 3.3). What may still become one is not parsed.
bool Connection::HandOn() {
  const std::string_view begun = parser_.pending();
  const std::size_t size = std::min(begun.size(), wire::kHttp2Preface.size());
  known_ = begun.substr(0, size) != wire::kHttp2Preface.substr(0, size);
  if (known_ || size < wire::kHttp2Preface.size()) {
    return false;
  }
  closed_ = true;
  timer_.Cancel();
  door_.Accept(std::move(transport_), begun);
  door_.Forget(*this);
  return true;
}

void Connection::OnExchangeReady(Exchange&) {
  // In the turn that asked, Settle() sees it by itself. Late answers share one turn, and so
  // one write, with whatever else comes before the loop gets to it.
  if (in_turn_ || settle_posted_) {
    return;
  }
  settle_posted_ = true;
  door_.loop_.Post([self = std::static_pointer_cast<Connection>(shared_from_this())] {
    self->settle_posted_ = false;
    if (!self->closed_) {
      self->Settle();
    }
  });
}

// Everything that can be done without waiting, then waits for what is missing.
void Connection::Settle() {
  const auto self = shared_from_this();
  in_turn_ = true;
  bool more = true;
  while (more) {
    more = RenderReady();
    if (MayTake()) {
      TakeRequests();
      more = true;
    }
  }
  in_turn_ = false;
  StartWrite();
  FinishIfDone();
  if (closed_) {
    return;
  }
  StartRead();
  Watch();
}

bool Connection::MayTake() const {
  return !parsed_all_ && !last_taken_ && waiting() < door_.settings_.pipeline &&
         output_.size() < door_.settings_.output_bytes;
}

void Connection::TakeRequests() {
  batch_.clear();
  while (MayTake()) {
    const auto event = parser_.Next();
    if (event == wire::Http1Parser::Event::kNeedMore) {
      parsed_all_ = true;
      break;
    }
    TakeOne(event);
  }
  if (!batch_.empty()) {
    door_.service_.Decide(batch_);
  }
}

void Connection::TakeOne(wire::Http1Parser::Event event) {
  using Event = wire::Http1Parser::Event;
  if (first_ == pipeline_.size() || first_ >= door_.settings_.pipeline) {
    pipeline_.erase(pipeline_.begin(), pipeline_.begin() + static_cast<std::ptrdiff_t>(first_));
    first_ = 0;
  }
  Exchange& exchange = door_.pool_.Take();
  pipeline_.push_back(&exchange);
  if (event == Event::kRequest) {
    exchange.Begin(*this, parser_.request());
    door_.router_.Route(parser_.request(), exchange);
    progressed_ = true;
    if (exchange.must_ask()) {
      batch_.push_back(&exchange);
    }
  } else if (event == Event::kContinue) {
    exchange.BeginWithoutRequest(*this);
    exchange.AnswerRaw(wire::kContinueResponse);
  } else {
    const wire::Http1Error& error = parser_.error();
    exchange.BeginWithoutRequest(*this);
    exchange.AnswerProblem(
        {.status = error.status, .title = error.title, .detail = error.detail, .code = {}});
    exchange.CloseAfterwards();
  }
  last_taken_ = !exchange.keep_alive();
}

// Moves the answers that are ready, in order, to the output. True if that made room for more.
bool Connection::RenderReady() {
  if (first_ == pipeline_.size() || !pipeline_[first_]->ready()) {
    return false;
  }
  const std::string_view date = door_.DateNow();
  bool rendered = false;
  while (first_ < pipeline_.size() && pipeline_[first_]->ready() &&
         output_.size() < door_.settings_.output_bytes) {
    Exchange& exchange = *pipeline_[first_];
    const bool last_of_all = draining_ && waiting() == 1 && parsed_all_ &&
                             parser_.phase() == wire::Http1Parser::Phase::kIdle;
    const bool keep_alive = exchange.keep_alive() && !last_of_all;
    exchange.Render(date, keep_alive, output_);
    if (!keep_alive) {
      last_taken_ = true;
      last_rendered_ = true;
    }
    door_.pool_.Return(exchange);
    ++first_;
    rendered = true;
  }
  return rendered;
}

void Connection::StartWrite() {
  if (output_.empty() || !writing_.empty()) {
    return;
  }
  std::swap(output_, writing_);
  writing_since_ = base::CoarseSteadyNow();
  transport_->Write(writing_, shared_from_this());
}

// Ends the connection once it has nothing more to say and nothing more to hear.
void Connection::FinishIfDone() {
  if (closed_ || ending_ || !writing_.empty() || !output_.empty() || waiting() > 0) {
    return;
  }
  const bool idle = parsed_all_ && parser_.phase() == wire::Http1Parser::Phase::kIdle;
  const bool grace_over = draining_ && std::chrono::steady_clock::now() >= GraceEnd();
  if (input_ended_ || (grace_over && idle && !last_rendered_)) {
    Close();
  } else if (last_rendered_) {
    // Closing with bytes unread would reset the connection, and the reset may overtake the
    // answer (RFC 9112, section 9.6): say that we are done, and wait a little for the client.
    ending_ = true;
    transport_->ShutdownWrite();
  }
}

net::SteadyTime Connection::GraceEnd() const {
  return draining_since_ + door_.settings_.drain_grace;
}

void Connection::StartRead() {
  if (reading_ || input_ended_) {
    return;
  }
  if (ending_ || (parsed_all_ && !last_taken_)) {
    reading_ = true;
    transport_->Read(parser_.Prepare(kReadBytes), shared_from_this());
  }
}

Connection::Awaiting Connection::WhatIsAwaited() const {
  using Phase = wire::Http1Parser::Phase;
  if (ending_) {
    return Awaiting::kEnd;
  }
  if (!reading_ || last_taken_) {
    return Awaiting::kNothing;  // Behind the last request nothing is due, be it cut off midway.
  }
  switch (parser_.phase()) {
    case Phase::kHeader:
      return Awaiting::kHeader;
    case Phase::kBody:
      return Awaiting::kBody;
    case Phase::kIdle:
      break;
  }
  return waiting() > 0 ? Awaiting::kNothing : Awaiting::kRequest;
}

net::SteadyTime Connection::Deadline() const {
  const DoorSettings& settings = door_.settings_;
  net::SteadyTime deadline = net::SteadyTime::max();
  switch (awaiting_) {
    case Awaiting::kNothing:
      break;
    case Awaiting::kRequest:
      deadline = awaiting_since_ + settings.idle_timeout;
      if (draining_) {
        deadline = std::min<net::SteadyTime>(deadline, GraceEnd());
      }
      break;
    case Awaiting::kHeader:
      deadline = awaiting_since_ + settings.header_timeout;
      break;
    case Awaiting::kBody:
      deadline = awaiting_since_ + settings.body_timeout;
      break;
    case Awaiting::kEnd:
      deadline = awaiting_since_ + settings.linger;
      break;
  }
  if (!writing_.empty()) {
    deadline = std::min<net::SteadyTime>(deadline, writing_since_ + settings.write_timeout);
  }
  return deadline;
}

// The timer is armed anew only for an earlier deadline; a later one is found when it fires.
// So a busy connection arms it once per timeout, not once per request.
void Connection::Watch() {
  const Awaiting awaited = WhatIsAwaited();
  if (awaited != awaiting_ || progressed_) {
    awaiting_ = awaited;
    awaiting_since_ = base::CoarseSteadyNow();
    progressed_ = false;
  }
  const net::SteadyTime deadline = Deadline();
  if (deadline < timer_at_) {
    timer_at_ = deadline;
    door_.loop_.Arm(timer_, deadline);
  }
}

void Connection::OnTimer() {
  const auto self = shared_from_this();
  timer_at_ = net::SteadyTime::max();
  const net::SteadyTime now = std::chrono::steady_clock::now();
  if (closed_ || now < Deadline()) {
    if (!closed_) {
      Watch();
    }
    return;
  }
  const bool stuck = !writing_.empty() && now >= writing_since_ + door_.settings_.write_timeout;
  const bool unfinished = awaiting_ == Awaiting::kHeader || awaiting_ == Awaiting::kBody;
  if (stuck || !unfinished) {
    Close();
    return;
  }
  Exchange& exchange = door_.pool_.Take();
  pipeline_.push_back(&exchange);
  exchange.BeginWithoutRequest(*this);
  exchange.AnswerProblem({.status = 408,
                          .title = {},
                          .detail = awaiting_ == Awaiting::kHeader
                                        ? "the header did not come in time"
                                        : "the body did not come in time",
                          .code = {}});
  exchange.CloseAfterwards();
  last_taken_ = true;
  Settle();
}

}  // namespace sluice::frontend::http
