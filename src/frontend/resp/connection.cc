#include "frontend/resp/connection.h"

#include <algorithm>
#include <utility>

#include "frontend/resp/commands.h"
#include "frontend/resp/front_end.h"

namespace sluice::frontend::resp {

namespace {

constexpr std::size_t kReadBytes = 16 * 1024;
constexpr std::size_t kKeptBytes = 64 * 1024;  // Of a buffer that is empty.

// Whether `address` ("127.0.0.1", "::1") is a loopback address, which no other host can use.
bool IsThisHost(std::string_view address) {
  return address.starts_with("127.") || address == "::1";
}

}  // namespace

void Exchange::OnCompleted(service::Operation& /*operation*/) noexcept {
  ready_ = true;
  if (connection_ == nullptr) {
    Return();
    return;
  }
  // What a verdict points to goes when this returns; all else is written when its turn comes.
  if (operation.verb() == service::Operation::Verb::kRuleCheck) {
    std::exchange(write_, nullptr)(*this, text_);
  }
  connection_->OnExchangeReady();
}

Connection::Connection(FrontEnd& front_end, std::unique_ptr<net::Transport> transport,
                       std::uint64_t id)
    : Conversation(front_end.loop_, front_end.connections_, std::move(transport),
                   {.write_timeout = front_end.settings_.write_timeout,
                    .linger = front_end.settings_.linger,
                    .drain_grace = front_end.settings_.drain_grace}),
      front_end_(front_end),
      parser_(front_end.settings_.command),
      pipeline_(front_end.settings_.pipeline) {
  session_.id = id;
  session_.on_this_host = IsThisHost(this->transport().peer_address());
  ResetSession();
}

void Connection::ResetSession() {
  session_.version = wire::RespVersion::k2;
  session_.name.clear();
  session_.authenticated = front_end_.settings_.password == nullptr;
  parser_.SetLimits(session_.authenticated ? front_end_.settings_.command
                                           : front_end_.settings_.unauthenticated);
  opened_at_ = now();
}

void Connection::SetAuthenticated() {
  session_.authenticated = true;
  parser_.SetLimits(front_end_.settings_.command);
}

std::span<char> Connection::Room() {
  return parser_.Prepare(kReadBytes);
}

void Connection::OnBytes(std::size_t size) {
  parser_.Commit(size);
  parsed_all_ = false;
}

void Connection::Proceed() {
  bool more = true;
  while (more) {
    more = RenderReady();
    if (MayTake()) {
      TakeCommands();
      more = true;
    }
  }
}

bool Connection::MayTake() const {
  return !parsed_all_ && !last_taken_ && !pipeline_.full() &&
         output().size() < front_end_.settings_.output_bytes;
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
  if (!batch_.empty()) {
    front_end_.service_.Submit(batch_);
    batch_.clear();
  }
}

wire::RespWriter Connection::Reply() {
  if (pipeline_.empty()) {
    return {output(), session_.version};
  }
  Exchange& exchange = front_end_.exchanges_.Take();
  pipeline_.Push(exchange);
  return {exchange.BeginText(*this), session_.version};
}

Exchange& Connection::TakeExchange() {
  Exchange& exchange = front_end_.exchanges_.Take();
  exchange.operation.Clear();
  exchange.operation.listener = front_end_.settings_.name;
  return exchange;
}

void Connection::Refuse(Exchange& exchange, std::string_view fault) {
  exchange.Return();
  Reply().Error("ERR", fault);
}

void Connection::Ask(Exchange& exchange, Exchange::Writer write) {
  exchange.Begin(*this, write, session_.version);
  pipeline_.Push(exchange);
  batch_.push_back(&exchange.operation);
}

void Connection::Count(std::string_view answer) {
  const FrontEndSettings& settings = front_end_.settings_;
  const bool is_error = answer.starts_with('-');
  if (settings.answers != nullptr) {
    settings.answers->Count(is_error ? AnswerCounts::kRespError : AnswerCounts::kRespAnswer);
  }
  if (settings.log != nullptr && is_error) [[unlikely]] {
    settings.log->Note(now().time_since_epoch(), AnswerCounts::kRespError,
                       transport().peer_address(), answer.substr(1, answer.find('\r') - 1));
  }
}

// Moves the answers that are ready, in order, to the output. True if that made room for more.
bool Connection::RenderReady() {
  bool rendered = false;
  while (pipeline_.ready() && output().size() < front_end_.settings_.output_bytes) {
    Exchange& exchange = pipeline_.front();
    const std::size_t begin = output().size();
    exchange.Render(output());
    Count(std::string_view(output()).substr(begin));
    exchange.Return();
    pipeline_.Pop();
    rendered = true;
  }
  return rendered;
}

Connection::Next Connection::WhatNext() const {
  if (!pipeline_.empty()) {
    return Next::kGoOn;
  }
  if (input_ended()) {
    return Next::kClose;
  }
  return last_taken_ ? Next::kEnd : Next::kGoOn;
}

Connection::Awaiting Connection::WhatIsAwaited() const {
  if (!reading() || last_taken_) {
    return Awaiting::kNothing;
  }
  if (parser_.inside_command()) {
    return Awaiting::kRest;
  }
  return pipeline_.empty() ? Awaiting::kCommand : Awaiting::kNothing;
}

net::SteadyTime Connection::Deadline() {
  const Awaiting awaited = WhatIsAwaited();
  if (awaited != awaiting_ || progressed_) {
    awaiting_ = awaited;
    awaiting_since_ = now();
    progressed_ = false;
  }
  const FrontEndSettings& settings = front_end_.settings_;
  net::SteadyTime deadline = last_taken_ ? net::SteadyTime::max() : grace_end();
  const auto also = [&deadline](net::SteadyTime since, Duration limit) {
    deadline = std::min<net::SteadyTime>(deadline, since + limit);
  };
  switch (awaiting_) {
    case Awaiting::kNothing:
      break;
    case Awaiting::kCommand:
      also(awaiting_since_, settings.idle_timeout);
      break;
    case Awaiting::kRest:
      also(awaiting_since_, settings.command_timeout);
      break;
  }
  if (!session_.authenticated) {
    also(opened_at_, settings.login_timeout);
  }
  return deadline;
}

bool Connection::OnDeadline() {
  const bool idle = parsed_all_ && !parser_.inside_command() && pipeline_.empty() && all_written();
  if (idle || last_taken_ || now() < grace_end()) {
    return false;
  }
  last_taken_ = true;  // It still answers the requests so far.
  return true;
}

}  // namespace sluice::frontend::resp
