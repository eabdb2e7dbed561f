#include "frontend/resp/connection.h"

#include <algorithm>
#include <utility>

#include <boost/asio/error.hpp>

#include "frontend/resp/commands.h"
#include "frontend/resp/door.h"

namespace sluice::frontend::resp {

namespace {
constexpr std::size_t kReadBytes = 16 * 1024;
constexpr std::size_t kKeptBytes = 64 * 1024;  // Of a buffer that is empty.
}  // namespace

Connection::Connection(Door& door, std::unique_ptr<net::Transport> transport, std::uint64_t id)
    : door_(door),
      transport_(std::move(transport)),
      parser_(door.settings_.command),
      timer_([this] { OnTimer(); }),
      opened_at_(std::chrono::steady_clock::now()) {
  session_.id = id;
  session_.on_this_host = IsLoopback(transport_->peer_address());
  ResetSession();
}

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

void Connection::ResetSession() {
  session_.version = wire::RespVersion::k2;
  session_.name.clear();
  session_.authenticated = door_.settings_.password == nullptr;
  parser_.SetLimits(session_.authenticated ? door_.settings_.command : door_.settings_.stranger);
  opened_at_ = std::chrono::steady_clock::now();
}

void Connection::SetAuthenticated() {
  session_.authenticated = true;
  parser_.SetLimits(door_.settings_.command);
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
    parsed_all_ = false;
  }  // Else dropped: we only wait for the client's end.
  Settle();
}

void Connection::OnWritten(const boost::system::error_code& error) noexcept {
  const auto self = shared_from_this();
  writing_.clear();
  if (writing_.capacity() > kKeptBytes) {
    writing_.shrink_to_fit();
  }
  if (closed_) {
    return;
  }
  if (error) {
    Close();
    return;
  }
  Settle();
}

void Connection::OnExchangeReady() {
  // In the turn that asked, Settle() sees it by itself. Late answers share one turn, and so
  // one write, with whatever else comes before the loop gets to it.
  if (in_turn_ || settle_posted_) {
    return;
  }
  settle_posted_ = true;
  door_.loop_.Post([self = shared_from_this()] {
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
      TakeCommands();
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

void Connection::TakeCommands() {
  using Event = wire::RespCommandParser::Event;
  while (MayTake()) {
    const Event event = parser_.Next();
    if (event == Event::kNeedMore) {
      parsed_all_ = true;
      parser_.ShrinkIfIdle(kKeptBytes);
      break;
    }
    progressed_ = true;
    if (event == Event::kCommand) {
      RunCommand(parser_.args(), *this);
    } else {
      Reply().Error("ERR", parser_.error());
      CloseAfterwards();
    }
  }
  AskBatch();
}

void Connection::AskBatch() {
  if (!throttles_.empty()) {
    door_.service_.Throttle(throttles_);
    throttles_.clear();
  }
  if (!verdicts_.empty()) {
    door_.service_.Decide(verdicts_);
    verdicts_.clear();
  }
}

void Connection::Push(Exchange& exchange) {
  if (first_ == pipeline_.size() || first_ >= door_.settings_.pipeline) {
    pipeline_.erase(pipeline_.begin(), pipeline_.begin() + static_cast<std::ptrdiff_t>(first_));
    first_ = 0;
  }
  pipeline_.push_back(&exchange);
}

wire::RespWriter Connection::Reply() {
  if (waiting() == 0) {
    return {output_, session_.version};
  }
  TextExchange& exchange = door_.texts_.Take();
  Push(exchange);
  return {exchange.Begin(*this), session_.version};
}

void Connection::AskThrottle(std::string_view key, const core::Quota& quota, Cost cost) {
  ThrottleExchange& exchange = door_.throttles_.Take();
  exchange.Begin(*this, key, quota, cost);
  Push(exchange);
  throttles_.push_back(&exchange);
}

VerdictExchange& Connection::TakeVerdictExchange() {
  return door_.verdicts_.Take();
}

void Connection::AskVerdict(VerdictExchange& exchange) {
  exchange.Begin(*this, door_, session_.version);
  Push(exchange);
  verdicts_.push_back(&exchange);
}

OperatorExchange& Connection::TakeOperatorExchange() {
  return door_.operations_.Take();
}

void Connection::AskOperator(OperatorExchange& exchange, Operation operation) {
  AskBatch();  // What was asked before it must not see what it does.
  exchange.Begin(*this);
  Push(exchange);
  if (operation == Operation::kReset) {
    door_.service_.Reset(exchange);
  } else {
    door_.service_.Refund(exchange);
  }
}

// Moves the answers that are ready, in order, to the output. True if that made room for more.
bool Connection::RenderReady() {
  bool rendered = false;
  while (first_ < pipeline_.size() && pipeline_[first_]->ready() &&
         output_.size() < door_.settings_.output_bytes) {
    pipeline_[first_]->Render(output_);
    pipeline_[first_]->Return();
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
  writing_since_ = std::chrono::steady_clock::now();
  transport_->Write(writing_, shared_from_this());
}

// Ends the connection once it has nothing more to say and nothing more to hear.
void Connection::FinishIfDone() {
  if (closed_ || ending_ || !writing_.empty() || !output_.empty() || waiting() > 0) {
    return;
  }
  if (input_ended_) {
    Close();
  } else if (last_taken_) {
    // Closing with bytes unread would reset the connection, and the reset may overtake the
    // answer: say that we are done, and wait a little for the client.
    ending_ = true;
    transport_->ShutdownWrite();
  }
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
  if (ending_) {
    return Awaiting::kEnd;
  }
  if (!reading_ || last_taken_) {
    return Awaiting::kNothing;
  }
  if (parser_.inside_command()) {
    return Awaiting::kRest;
  }
  return waiting() > 0 ? Awaiting::kNothing : Awaiting::kCommand;
}

net::SteadyTime Connection::Deadline() const {
  const DoorSettings& settings = door_.settings_;
  net::SteadyTime deadline = net::SteadyTime::max();
  switch (awaiting_) {
    case Awaiting::kNothing:
      break;
    case Awaiting::kCommand:
      deadline = awaiting_since_ + settings.idle_timeout;
      break;
    case Awaiting::kRest:
      deadline = awaiting_since_ + settings.command_timeout;
      break;
    case Awaiting::kEnd:
      deadline = awaiting_since_ + settings.linger;
      break;
  }
  if (!session_.authenticated) {
    deadline = std::min<net::SteadyTime>(deadline, opened_at_ + settings.login_timeout);
  }
  if (draining_ && !last_taken_) {
    deadline = std::min<net::SteadyTime>(deadline, draining_since_ + settings.drain_grace);
  }
  if (!writing_.empty()) {
    deadline = std::min<net::SteadyTime>(deadline, writing_since_ + settings.write_timeout);
  }
  return deadline;
}

// The timer is armed anew only for an earlier deadline; a later one is found when it fires.
// So a busy connection arms it once per timeout, not once per command.
void Connection::Watch() {
  const Awaiting awaited = WhatIsAwaited();
  if (awaited != awaiting_ || progressed_) {
    awaiting_ = awaited;
    awaiting_since_ = std::chrono::steady_clock::now();
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
  const DoorSettings& settings = door_.settings_;
  const bool stuck = !writing_.empty() && now >= writing_since_ + settings.write_timeout;
  const bool graced = draining_ && !last_taken_ && now >= draining_since_ + settings.drain_grace;
  const bool idle = parsed_all_ && !parser_.inside_command() && waiting() == 0 && output_.empty() &&
                    writing_.empty();
  if (graced && !stuck && !idle) {
    last_taken_ = true;  // What it was asked so far it still answers.
    Settle();
    return;
  }
  Close();
}

}  // namespace sluice::frontend::resp
