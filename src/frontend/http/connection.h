#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "frontend/http/client.h"
#include "frontend/http/exchange.h"
#include "net/timer_wheel.h"
#include "net/transport.h"
#include "wire/http1_parser.h"

namespace sluice::frontend::http {

class Door;

// One client's connection that speaks HTTP/1.1, or turns out to speak HTTP/2 and is handed on.
// Per turn: a read buffer is parsed to its end, all its checks go
// to the service as one batch, and what is ready goes out in one write. That, not the codec,
// is what makes pipelining pay: the kernel's share of a request is five times ours.
//
// Answers leave in the order of their requests, however late or disordered the store's
// answers come (`pipeline_` is that order). What bounds a client: when `pipeline` requests
// lack an answer or `output_bytes` wait to be taken, nothing more is read from it; a timer
// watches headers, bodies, idleness and writes that get stuck.
class Connection final : public Client {
 public:
  Connection(Door& door, std::unique_ptr<net::Transport> transport);

  void Start() override;
  void Drain() override;
  void Close() override;
  void OnExchangeReady(Exchange& exchange) override;
  [[nodiscard]] std::string_view peer_address() const override {
    return transport_->peer_address();
  }

  void OnRead(const boost::system::error_code& error, std::size_t size) noexcept override;
  void OnWritten(const boost::system::error_code& error) noexcept override;

 private:
  // What the connection waits for its client to do. Each has a time limit but the first.
  enum class Awaiting : std::uint8_t { kNothing, kRequest, kHeader, kBody, kEnd };

  // Looks at a connection's first bytes. True: it was handed on, and this one is over.
  bool HandOn();
  void TakeRequests();
  void TakeOne(wire::Http1Parser::Event event);
  void Settle();
  bool RenderReady();
  void StartRead();
  void StartWrite();
  void FinishIfDone();
  [[nodiscard]] net::SteadyTime GraceEnd() const;

  [[nodiscard]] bool MayTake() const;
  [[nodiscard]] std::size_t waiting() const { return pipeline_.size() - first_; }
  [[nodiscard]] Awaiting WhatIsAwaited() const;
  [[nodiscard]] net::SteadyTime Deadline() const;
  void Watch();
  void OnTimer();

  Door& door_;
  std::unique_ptr<net::Transport> transport_;
  wire::Http1Parser parser_;
  std::vector<Exchange*> pipeline_;  // From `first_` on: without an answer on its way yet.
  std::size_t first_ = 0;
  std::vector<service::DecideCall*> batch_;
  std::string output_;   // Rendered, not being written yet.
  std::string writing_;  // Stays put until OnWritten().

  net::Timer timer_;
  net::SteadyTime timer_at_ = net::SteadyTime::max();
  net::SteadyTime awaiting_since_;
  net::SteadyTime writing_since_;
  net::SteadyTime draining_since_;
  Awaiting awaiting_ = Awaiting::kNothing;

  bool known_ = false;       // It is HTTP/1, so much is clear.
  bool parsed_all_ = true;   // Nothing to parse before more bytes come.
  bool progressed_ = false;  // A request came whole in this turn.
  bool last_taken_ = false;  // The request behind which nothing is read any more.
  bool last_rendered_ = false;
  bool input_ended_ = false;  // The client says that nothing more comes.
  bool ending_ = false;       // Our side has said so; only the client's end is awaited.
  bool draining_ = false;
  bool closed_ = false;
  bool reading_ = false;
  bool in_turn_ = false;
  bool settle_posted_ = false;
};

}  // namespace sluice::frontend::http
