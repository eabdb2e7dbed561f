#include "frontend/conversation.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include <boost/asio/error.hpp>

#include "base/clock.h"
#include "net/event_loop.h"

namespace sluice::frontend {

namespace {
constexpr std::size_t kKeptBytes = 128 * 1024;  // Of a buffer that is empty.
}  // namespace

Conversation::Conversation(net::EventLoop& loop, ConnectionSet& set,
                           std::unique_ptr<net::Transport> transport,
                           const ConversationSettings& settings)
    : loop_(loop), set_(set), transport_(std::move(transport)), settings_(settings), timer_([this] {
        OnTimer();
      }) {
  BeginTurn();
}

void Conversation::BeginTurn() {
  now_ = settings_.exact_now ? std::chrono::steady_clock::now() : base::CoarseSteadyNow();
}

void Conversation::Start() {
  BeginTurn();
  in_turn_ = true;
  OnStart();
  Settle();
}

void Conversation::Drain() {
  now_ = std::chrono::steady_clock::now();  // A grace period is short compared with a tick.
  const bool first = !draining();
  if (first) {
    grace_end_ = now_ + settings_.drain_grace;
  }
  OnDrain(first);
  Settle();
}

void Conversation::Close() {
  if (closed_) {
    return;
  }
  closed_ = true;
  timer_.Cancel();
  transport_->Close();
  OnClose();
  set_.Forget(*this);  // This may have been the last owner: do nothing after this line.
}

std::unique_ptr<net::Transport> Conversation::HandOn() {
  closed_ = true;
  timer_.Cancel();
  set_.Forget(*this);
  return std::move(transport_);
}

void Conversation::OnRead(const boost::system::error_code& error, std::size_t size) noexcept {
  const auto self = shared_from_this();
  reading_ = false;
  if (closed_) {
    return;
  }
  if (error && (error != boost::asio::error::eof || ending_)) {
    Close();
    return;
  }
  BeginTurn();
  if (error) {
    input_ended_ = true;  // The client may still read its answers.
  } else if (!ending_) {
    in_turn_ = true;
    OnBytes(size);
  }  // Otherwise the bytes are dropped: we only wait for the client's end.
  Settle();
}

void Conversation::OnWritten(const boost::system::error_code& error) noexcept {
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
  BeginTurn();
  Settle();
}

void Conversation::SettleSoon() {
  if (in_turn_ || settle_posted_) {
    return;
  }
  settle_posted_ = true;
  loop_.Post([self = shared_from_this()] {
    self->settle_posted_ = false;
    self->BeginTurn();
    self->Settle();
  });
}

void Conversation::Settle() {
  if (closed_) {
    return;
  }
  in_turn_ = true;
  Proceed();
  in_turn_ = false;
  if (!output_.empty() && writing_.empty()) {
    std::swap(output_, writing_);
    writing_since_ = now_;
    transport_->Write(writing_, shared_from_this());
  }
  if (writing_.empty() && !ending_) {
    const Next next = WhatNext();
    if (next == Next::kClose) {
      Close();
      return;
    }
    if (next == Next::kEnd) {
      ending_ = true;
      ending_since_ = now_;
      transport_->ShutdownWrite();
    }
  }
  if (!reading_ && !input_ended_ && (ending_ || MayRead())) {
    reading_ = true;
    transport_->Read(Room(), shared_from_this());
  }
  Watch();
}

net::SteadyTime Conversation::DeadlineOfAll() {
  if (ending_) {
    return ending_since_ + settings_.linger;
  }
  const net::SteadyTime deadline = Deadline();
  return writing_.empty()
             ? deadline
             : std::min<net::SteadyTime>(deadline, writing_since_ + settings_.write_timeout);
}

// The timer is armed again only for an earlier deadline; a later one is found when it fires. So a
// busy connection arms it once per timeout, not once per request.
void Conversation::Watch() {
  const net::SteadyTime deadline = DeadlineOfAll();
  if (deadline < timer_at_) {
    timer_at_ = deadline;
    loop_.Arm(timer_, deadline);
  }
}

void Conversation::OnTimer() {
  const auto self = shared_from_this();
  timer_at_ = net::SteadyTime::max();
  now_ = std::chrono::steady_clock::now();
  if (now_ < DeadlineOfAll()) {
    Watch();
    return;
  }
  const bool stuck = !writing_.empty() && now_ >= writing_since_ + settings_.write_timeout;
  if (ending_ || stuck || !OnDeadline()) {
    Close();
    return;
  }
  Settle();
}

}  // namespace sluice::frontend
