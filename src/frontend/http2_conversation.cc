#include "frontend/http2_conversation.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace sluice::frontend {

namespace {
constexpr std::size_t kKeptBodyBytes = 16 * 1024;  // Of a body that is empty.
}  // namespace

// NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init): input_ stays untouched until a read.
Http2Conversation::Http2Conversation(net::EventLoop& loop, ConnectionSet& set,
                                     std::unique_ptr<net::Transport> transport,
                                     std::shared_ptr<wire::Http2Memory> memory,
                                     const Http2Settings& settings)
    : Conversation(loop, set, std::move(transport), settings.conversation),
      settings_(settings),
      session_(*this, std::move(memory), settings.limits, now()),
      idle_since_(now()) {}

void Http2Conversation::OnDrain(bool first) {
  if (first) {
    session_.Shutdown(/*final=*/false);
  }
}

void Http2Conversation::Receive(std::string_view bytes) {
  broken_ = !session_.Receive(bytes, now()) || broken_;
  AskBatch();
  if (std::exchange(headers_seen_, session_.headers()) != session_.headers()) {
    header_since_ = now();
  }
}

void Http2Conversation::OnBegun(Request& request, wire::Http2Stream& stream) {
  request.stream = &stream;
  request.body.clear();
  request.since = now();
  stream.context = &request;
  coming_.push_back(request);
}

void Http2Conversation::DropBody(Request& request) {
  if (!request.body.empty()) {
    session_.Consume(*request.stream, request.body.size());
    request.body.clear();
  }
}

void Http2Conversation::OnAnswered(Request& request) {
  request.since = now();
  request.unlink();
  answered_.push_back(request);
}

void Http2Conversation::OnGone(Request& request) {
  request.unlink();
  request.stream = nullptr;
  if (request.body.capacity() > kKeptBodyBytes) {
    request.body = std::string();
  }
  idle_since_ = now();
}

void Http2Conversation::Proceed() {
  AnswerReady();
  session_.Send(output(), settings_.output_bytes);
}

Conversation::Next Http2Conversation::WhatNext() const {
  const bool idle = session_.open() == 0;
  if (broken_ || session_.finished() || (goaway_sent_ && idle)) {
    return Next::kEnd;
  }
  return input_ended() && idle ? Next::kClose : Next::kGoOn;
}

bool Http2Conversation::MayRead() const {
  return !broken_ && output().size() < settings_.output_bytes;
}

net::SteadyTime Http2Conversation::Deadline() {
  net::SteadyTime deadline = goaway_sent_ ? net::SteadyTime::max() : grace_end();
  const auto also = [&deadline](net::SteadyTime since, Duration limit) {
    deadline = std::min<net::SteadyTime>(deadline, since + limit);
  };
  if (session_.open() == 0) {
    also(idle_since_, settings_.idle_timeout);
  }
  if (session_.in_header()) {
    also(header_since_, settings_.header_timeout);
  }
  if (!coming_.empty()) {
    also(coming_.front().since, settings_.body_timeout);
  }
  if (!answered_.empty()) {
    also(answered_.front().since, settings_.conversation.write_timeout);
  }
  return deadline;
}

bool Http2Conversation::OnDeadline() {
  const auto over = [this](net::SteadyTime since, Duration limit) {
    return now() >= since + limit;
  };
  if (!goaway_sent_ && now() >= grace_end()) {
    goaway_sent_ = true;
    session_.Shutdown(/*final=*/true);
  }
  const bool stuck =
      !answered_.empty() && over(answered_.front().since, settings_.conversation.write_timeout);
  const bool idle = session_.open() == 0 && over(idle_since_, settings_.idle_timeout);
  const bool half_a_header = session_.in_header() && over(header_since_, settings_.header_timeout);
  if (stuck || idle || half_a_header) {
    return false;
  }
  while (!coming_.empty() && over(coming_.front().since, settings_.body_timeout)) {
    RefuseLate(coming_.front());
  }
  return true;
}

}  // namespace sluice::frontend
