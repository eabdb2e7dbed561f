#include "frontend/http/connection.h"

#include <algorithm>
#include <utility>

#include "frontend/http/front_end.h"
#include "wire/http2_session.h"

namespace sluice::frontend::http {

namespace {
constexpr std::size_t kReadBytes = 8 * 1024;
}  // namespace

Connection::Connection(FrontEnd& front_end, std::unique_ptr<net::Transport> transport)
    : Conversation(front_end.loop_, front_end.connections_, std::move(transport),
                   {.write_timeout = front_end.settings_.write_timeout,
                    .linger = front_end.settings_.linger,
                    .drain_grace = front_end.settings_.drain_grace}),
      front_end_(front_end),
      parser_(front_end.settings_.request),
      pipeline_(front_end.settings_.pipeline) {}

void Connection::OnExchangeReady(Exchange&) {
  SettleSoon();
}

std::span<char> Connection::Room() {
  return parser_.Prepare(kReadBytes);
}

void Connection::OnBytes(std::size_t size) {
  parser_.Commit(size);
  if (!known_) {
    LearnProtocol();
  }
  parsed_all_ = !known_;
}

// HTTP/2 with prior knowledge begins with a preface that is no request of HTTP/1
// (RFC 9113, 3.3). What may still become one is not parsed.
void Connection::LearnProtocol() {
  const std::string_view begun = parser_.pending();
  const std::size_t size = std::min(begun.size(), wire::kHttp2Preface.size());
  known_ = begun.substr(0, size) != wire::kHttp2Preface.substr(0, size);
  if (!known_ && size == wire::kHttp2Preface.size()) {
    front_end_.Accept(HandOn(), begun);
  }
}

void Connection::Proceed() {
  bool more = true;
  while (more) {
    more = RenderReady();
    if (MayTake()) {
      TakeRequests();
      more = true;
    }
  }
}

bool Connection::MayTake() const {
  return !parsed_all_ && !last_taken_ && !pipeline_.full() &&
         output().size() < front_end_.settings_.output_bytes;
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
    front_end_.service_.Submit(batch_);
  }
}

void Connection::TakeOne(wire::Http1Parser::Event event) {
  using Event = wire::Http1Parser::Event;
  Exchange& exchange = front_end_.pool_.Take();
  pipeline_.Push(exchange);
  if (event == Event::kRequest) {
    exchange.Begin(*this, &parser_.request());
    front_end_.router_.Route(parser_.request(), exchange);
    progressed_ = true;
    if (exchange.must_ask()) {
      batch_.push_back(&exchange.operation);
    }
  } else if (event == Event::kContinue) {
    exchange.Begin(*this, nullptr);
    exchange.response.raw = true;
    exchange.response.body = wire::kContinueResponse;
    exchange.SetReady();
  } else {
    const wire::Http1Error& error = parser_.error();
    exchange.Begin(*this, nullptr);
    exchange.AnswerProblem(
        {.status = error.status, .title = error.title, .detail = error.detail, .code = {}});
    exchange.CloseAfterwards();
  }
  last_taken_ = !exchange.context.keep_alive;
}

// Moves the answers that are ready, in order, to the output. True if that made room for more.
bool Connection::RenderReady() {
  if (!pipeline_.ready()) {
    return false;
  }
  const std::string_view date = front_end_.DateNow();
  bool rendered = false;
  while (pipeline_.ready() && output().size() < front_end_.settings_.output_bytes) {
    Exchange& exchange = pipeline_.front();
    const bool last_of_all = draining() && pipeline_.size() == 1 && between_requests();
    const bool keep_alive = exchange.context.keep_alive && !last_of_all;
    exchange.Render(date, keep_alive, output());
    if (!exchange.response.raw) {
      front_end_.Count(exchange.response.status);
    }
    if (!keep_alive) {
      last_taken_ = true;
      last_rendered_ = true;
    }
    front_end_.pool_.Return(exchange);
    pipeline_.Pop();
    rendered = true;
  }
  return rendered;
}

Connection::Next Connection::WhatNext() const {
  if (!pipeline_.empty()) {
    return Next::kGoOn;
  }
  const bool grace_over = now() >= grace_end();
  if (input_ended() || (grace_over && between_requests() && !last_rendered_)) {
    return Next::kClose;
  }
  return last_rendered_ ? Next::kEnd : Next::kGoOn;
}

Connection::Awaiting Connection::WhatIsAwaited() const {
  using Phase = wire::Http1Parser::Phase;
  if (!reading() || last_taken_) {
    return Awaiting::kNothing;  // After the last request nothing more is expected, even if it was
                                // truncated.
  }
  switch (parser_.phase()) {
    case Phase::kHeader:
      return Awaiting::kHeader;
    case Phase::kBody:
      return Awaiting::kBody;
    case Phase::kIdle:
      break;
  }
  return pipeline_.empty() ? Awaiting::kRequest : Awaiting::kNothing;
}

net::SteadyTime Connection::Deadline() {
  const Awaiting awaited = WhatIsAwaited();
  if (awaited != awaiting_ || progressed_) {
    awaiting_ = awaited;
    awaiting_since_ = now();
    progressed_ = false;
  }
  const FrontEndSettings& settings = front_end_.settings_;
  switch (awaiting_) {
    case Awaiting::kNothing:
      break;
    case Awaiting::kRequest:
      return std::min<net::SteadyTime>(awaiting_since_ + settings.idle_timeout, grace_end());
    case Awaiting::kHeader:
      return awaiting_since_ + settings.header_timeout;
    case Awaiting::kBody:
      return awaiting_since_ + settings.body_timeout;
  }
  return net::SteadyTime::max();
}

bool Connection::OnDeadline() {
  if (awaiting_ != Awaiting::kHeader && awaiting_ != Awaiting::kBody) {
    return false;
  }
  Exchange& exchange = front_end_.pool_.Take();
  pipeline_.Push(exchange);
  exchange.Begin(*this, nullptr);
  exchange.AnswerProblem({.status = 408,
                          .title = {},
                          .detail = awaiting_ == Awaiting::kHeader
                                        ? "the header did not arrive in time"
                                        : "the body did not arrive in time",
                          .code = {}});
  exchange.CloseAfterwards();
  last_taken_ = true;
  return true;
}

}  // namespace sluice::frontend::http
