#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "frontend/conversation.h"
#include "frontend/exchanges.h"
#include "frontend/http/exchange.h"
#include "net/timer_wheel.h"
#include "wire/http1_parser.h"

namespace sluice::frontend::http {

class FrontEnd;

// One client's HTTP/1.1 connection. If it turns out to speak HTTP/2, it is passed on. Per turn: a
// read buffer is parsed to its end, all its checks go to the service as one batch, and all ready
// answers leave in one write. That, not the codec, is what makes pipelining pay: the kernel's share
// of a request is five times ours.
//
// Answers leave in the order of their requests, even if the store answers late or out of order. A
// client is bounded: while `pipeline` requests are unanswered, or `output_bytes` are unread by it,
// nothing more is read from it. A timer limits headers, bodies, idleness and blocked writes.
class Connection final : public Conversation, public Client {
 public:
  Connection(FrontEnd& front_end, std::unique_ptr<net::Transport> transport);

  void OnExchangeReady(Exchange& exchange) override;
  [[nodiscard]] std::string_view peer_address() const override {
    return transport().peer_address();
  }

 private:
  // What the connection expects from its client. Each has a time limit, except the first.
  enum class Awaiting : std::uint8_t { kNothing, kRequest, kHeader, kBody };

  void OnBytes(std::size_t size) override;
  void Proceed() override;
  [[nodiscard]] Next WhatNext() const override;
  [[nodiscard]] bool MayRead() const override { return parsed_all_ && !last_taken_; }
  [[nodiscard]] std::span<char> Room() override;
  [[nodiscard]] net::SteadyTime Deadline() override;
  [[nodiscard]] bool OnDeadline() override;
  void OnClose() override { pipeline_.AbandonAll(); }

  // Examines a connection's first bytes, and passes it on if they are HTTP/2's.
  void LearnProtocol();
  void TakeRequests();
  void TakeOne(wire::Http1Parser::Event event);
  bool RenderReady();

  [[nodiscard]] bool MayTake() const;
  // No byte of a next request has arrived.
  [[nodiscard]] bool between_requests() const {
    return parsed_all_ && parser_.phase() == wire::Http1Parser::Phase::kIdle;
  }
  [[nodiscard]] Awaiting WhatIsAwaited() const;

  FrontEnd& front_end_;
  wire::Http1Parser parser_;
  Pipeline<Exchange> pipeline_;
  std::vector<service::Operation*> batch_;

  Awaiting awaiting_ = Awaiting::kNothing;
  net::SteadyTime awaiting_since_;

  bool known_ = false;       // It is known to be HTTP/1.
  bool parsed_all_ = true;   // Nothing can be parsed before more bytes arrive.
  bool progressed_ = false;  // A complete request arrived in this turn.
  bool last_taken_ = false;  // The last request: nothing is read after it.
  bool last_rendered_ = false;
};

}  // namespace sluice::frontend::http
