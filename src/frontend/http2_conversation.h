#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include <boost/intrusive/list.hpp>

#include "frontend/conversation.h"
#include "net/timer_wheel.h"
#include "wire/http2_session.h"

namespace sluice::frontend {

struct Http2Settings {
  wire::Http2Limits limits;
  std::size_t output_bytes;  // Unwritten answers of one connection.
  Duration header_timeout;   // From a header's first byte to its last.
  Duration body_timeout;     // From a stream's header to its end.
  Duration idle_timeout;     // Without a stream.
  ConversationSettings conversation;
};

// A conversation over HTTP/2. Per turn: all received bytes are read, all complete requests are
// submitted together, and all ready answers leave in one write, in the order in which they became
// ready.
//
// A client is bounded by the session's limits (streams, headers, bodies, resets, idle frames).
// Nothing more is read from it while `output_bytes` are unread by it. A timer limits headers,
// bodies, idleness, blocked writes, and answers that wait for the client's windows.
class Http2Conversation : public Conversation, protected wire::Http2User {
 protected:
  using Hook =
      boost::intrusive::list_base_hook<boost::intrusive::link_mode<boost::intrusive::auto_unlink>>;
  // A stream's request on its way in, at a service, or its answer on its way out.
  struct Request : Hook {
    wire::Http2Stream* stream = nullptr;
    std::string body;       // Counts against the connection's window until it is dropped.
    net::SteadyTime since;  // It began, or its answer did.
  };

  Http2Conversation(net::EventLoop& loop, ConnectionSet& set,
                    std::unique_ptr<net::Transport> transport,
                    std::shared_ptr<wire::Http2Memory> memory, const Http2Settings& settings);

  // What a derived class reports for each request: its header has come; its body is of no more use;
  // it is whole (or of no more use); its answer has begun; its stream is closed.
  void OnBegun(Request& request, wire::Http2Stream& stream);
  void DropBody(Request& request);
  static void OnWhole(Request& request) { request.unlink(); }
  void OnAnswered(Request& request);
  void OnGone(Request& request);
  [[nodiscard]] static Request& RequestOf(const wire::Http2Stream& stream) {
    return *static_cast<Request*>(stream.context);
  }

  void Receive(std::string_view bytes);
  [[nodiscard]] wire::Http2Session& session() { return session_; }
  [[nodiscard]] std::span<char> input() { return input_; }

  void OnDrain(bool first) override;
  [[nodiscard]] net::SteadyTime Deadline() override;
  [[nodiscard]] bool OnDeadline() override;

 private:
  // The oldest in front.
  using Requests = boost::intrusive::list<Request, boost::intrusive::constant_time_size<false>>;

  // Submits all requests that were completed by the bytes just received.
  virtual void AskBatch() = 0;
  // Answers what is ready.
  virtual void AnswerReady() = 0;
  // Answers a request whose body did not arrive in time.
  virtual void RefuseLate(Request& request) = 0;

  void OnBytes(std::size_t size) final { Receive({input_.data(), size}); }
  void Proceed() final;
  [[nodiscard]] Next WhatNext() const final;
  [[nodiscard]] bool MayRead() const final;
  [[nodiscard]] std::span<char> Room() final { return input_; }

  const Http2Settings settings_;
  wire::Http2Session session_;
  Requests coming_;    // Not complete yet.
  Requests answered_;  // Not read by the client yet.
  std::array<char, 16 * 1024> input_;

  net::SteadyTime idle_since_;
  net::SteadyTime header_since_;
  std::uint64_t headers_seen_ = 0;
  bool broken_ = false;       // The bytes are not HTTP/2, or there are too many of them.
  bool goaway_sent_ = false;  // The client knows which request is the last.
};

}  // namespace sluice::frontend
